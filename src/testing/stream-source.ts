import { createHash } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { RawStreamRecord, StreamReader } from './dynamo-stream-reader.ts'
import { type FilterPattern, matchesFilter } from './event-filter.ts'
import type { LocalFunction } from './function.ts'
import type { StreamEvent, StreamRecord } from './lambda-events.ts'
import { streamRecord } from './records.ts'
import type { Source } from './source.ts'
import { createStreamLane, type StreamLane } from './stream-lane.ts'
import type { StreamSettings } from './stream-settings.ts'

export type StreamSource = Source & { readonly function: LocalFunction<StreamEvent> }

export type StreamSourceDependencies = {
  readonly clock: Clock
  readonly speed: number
  readonly streamArn: string
  readonly reader: StreamReader
  readonly function: LocalFunction<StreamEvent>
  readonly onActivity: () => void
}

const SHORTEST_POLL_MS = 2
const LONGEST_POLL_MS = 20

/** At most a fifth of the time is spent on reading: the longer an engine takes, the more rarely it is asked. */
const PAUSE_PER_READ = 4
const LONGEST_PAUSE_MS = 200

/**
 * Reads a stream and hands it to a function as Lambda does. Polls in real time, every 2 to 20 ms; more rarely where a read
 * takes long, as it does with an engine whose streams have grown.
 */
export function createStreamSource(settings: StreamSettings, deps: StreamSourceDependencies): StreamSource {
  const { clock, reader, onActivity } = deps
  const { parallelization = 1, filter = [], faults = (records) => records } = settings
  const patterns = (Array.isArray(filter) ? filter : [filter]) as readonly FilterPattern[]
  const stopped = new AbortController()
  const lanes = Array.from({ length: parallelization }, () =>
    createStreamLane(settings, { ...deps, stopped: stopped.signal }),
  )
  let reads = 0
  let emptySince = 0
  let failure: unknown

  const readOnce = async (): Promise<number> => {
    const raw = await reader.read()
    const records = raw.map((record) => toLambda(record, deps)).filter((record) => matchesFilter(record, patterns))
    if (raw.length > 0) onActivity()
    for (const record of faults(records)) lanes[laneOf(record, lanes.length)]?.push(record)
    return raw.length
  }

  /** Records read, or undefined if the stream could not be: it is tried again. */
  const tryRead = async (): Promise<number | undefined> => {
    try {
      const count = await readOnce()
      failure = undefined
      return count
    } catch (error) {
      failure = error
      return undefined
    }
  }

  const loop = async (): Promise<void> => {
    let pause = SHORTEST_POLL_MS
    while (!stopped.signal.aborted) {
      const began = reads
      reads += 1
      const asked = performance.now()
      const count = await tryRead()
      const took = performance.now() - asked
      if (count === 0) emptySince = began + 1
      pause = count ? SHORTEST_POLL_MS : Math.min(LONGEST_POLL_MS, pause + 1)
      await realSleep(count ? pause : Math.max(pause, Math.min(LONGEST_PAUSE_MS, PAUSE_PER_READ * took)))
    }
  }
  const finished = loop()

  return {
    function: deps.function,
    pending: () => {
      const waiting = lanes.reduce((sum, lane) => sum + lane.pending(), 0)
      const broken =
        failure === undefined ? [] : [`the stream of ${deps.function.name}, which cannot be read: ${String(failure)}`]
      return waiting === 0 ? broken : [...broken, `${waiting} stream records for ${deps.function.name}`]
    },
    catchUp: async () => {
      // Only an empty read that began after this call proves that everything before it was read.
      const from = reads
      while (emptySince <= from && failure === undefined && !stopped.signal.aborted) await realSleep(1)
    },
    stop: async () => {
      stopped.abort(new Error('the source was stopped'))
      await finished
      await Promise.all(lanes.map((lane: StreamLane) => lane.stop()))
      await deps.function.stop()
    },
  }

  function realSleep(ms: number): Promise<void> {
    return clock.sleep(ms * deps.speed)
  }
}

/** Records of one item always go the same way, and so stay in order. */
function laneOf(record: StreamRecord, lanes: number): number {
  if (lanes === 1) return 0
  const keys = Object.entries(record.dynamodb.Keys).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('md5').update(JSON.stringify(keys)).digest().readUInt32BE() % lanes
}

/**
 * Engines number records 1, 2, 3 and stamp them by the machine's clock in whole seconds: a record read within two seconds
 * of its stamp gets the time of now, an older one its age at the clock's speed.
 */
function toLambda(raw: RawStreamRecord, { clock, speed, streamArn }: StreamSourceDependencies): StreamRecord {
  const { Keys, NewImage, OldImage, SequenceNumber, ApproximateCreationDateTime, StreamViewType } = raw.dynamodb
  const realAge = ApproximateCreationDateTime === undefined ? 0 : Date.now() - ApproximateCreationDateTime * 1000
  const record = streamRecord({
    eventName: raw.eventName,
    keys: Keys,
    sequence: SequenceNumber,
    createdAt: clock.now() - (realAge < 2000 ? 0 : realAge * speed),
    streamArn,
    ...(NewImage === undefined ? {} : { newImage: NewImage }),
    ...(OldImage === undefined ? {} : { oldImage: OldImage }),
    ttl: raw.userIdentity?.PrincipalId === 'dynamodb.amazonaws.com',
  })
  return StreamViewType === undefined ? record : { ...record, dynamodb: { ...record.dynamodb, StreamViewType } }
}
