import { once } from 'node:events'
import { RELAY_FILTER, type StreamSource } from '../../src/testing/index.ts'
import { spoil } from '../demo/chance.ts'
import type { Crew } from './processes/crew.ts'
import { type OnDeath, type RigFunction, rigFunction } from './processes/rig-function.ts'
import { FUNCTION_MS, QUEUES, type QueueName } from './topology.ts'
import type { World } from './world.ts'

/** Invocations of a consumer at once. */
const CONCURRENCY: Readonly<Record<QueueName, number>> = { main: 5, side: 3, plain: 3 }
const RELAY_LANES = 3
/** Records gather for so long: fuller batches, and more of each to lose at once. */
const WINDOW_MS = 9000
const SWEEP_MS = 60_000

export type Mappings = {
  readonly relay: RigFunction
  readonly sweeper: RigFunction
  /** Reads the stream from its horizon until the signal aborts, beside the mapping that is there: as one made anew does. */
  readonly replayStream: (signal: AbortSignal) => Promise<void>
  /** What is still to do. */
  readonly pending: () => readonly string[]
}

export type MappingOptions = {
  readonly crew: Crew
  readonly random: () => number
  /** Hears of consumers that died with messages in hand. */
  readonly onDeath: OnDeath
}

/** Connects the functions, with the settings that they are deployed with. Stream records vanish, double and change places. */
export async function connectMappings({ aws, queues }: World, options: MappingOptions): Promise<Mappings> {
  const { crew, random, onDeath } = options
  const relay = rigFunction(crew, 'relay')
  const sweeper = rigFunction(crew, 'sweeper')
  const connectRelay = (parallelization: number): Promise<StreamSource> =>
    aws.connectStream({
      name: 'relay',
      handler: relay,
      batchSize: 100,
      windowMs: WINDOW_MS,
      bisect: true,
      maxRetries: 10,
      reportBatchItemFailures: true,
      filter: RELAY_FILTER,
      timeoutMs: FUNCTION_MS,
      parallelization,
      faults: (records) => spoil(records, random),
    })
  const stream = await connectRelay(RELAY_LANES)
  aws.schedule({ name: 'sweeper', handler: sweeper, everyMs: SWEEP_MS, timeoutMs: SWEEP_MS })
  const consumers = QUEUES.map((name) =>
    aws.connectQueue({
      name,
      queue: queues[name],
      handler: rigFunction(crew, `consumer-${name}`, onDeath),
      reportBatchItemFailures: true,
      timeoutMs: FUNCTION_MS,
      maxConcurrency: CONCURRENCY[name],
    }),
  )
  return {
    relay,
    sweeper,
    replayStream: async (signal) => {
      const replay = await connectRelay(1)
      if (!signal.aborted) await once(signal, 'abort')
      await replay.stop()
    },
    pending: () => [stream, ...consumers].flatMap((source) => source.pending()),
  }
}
