import type { Clock } from '../../../src/clock.ts'
import { chance } from '../model/chance.ts'
import { describeDynamo, describeSqs } from '../model/describe.ts'
import { createModelDynamo, type ModelDynamo } from '../model/engine/dynamo.ts'
import { type Accepted, createModelSqs, type ModelSqs } from '../model/engine/sqs.ts'
import type { Fault, Outage, Role } from '../model/faults.ts'
import { createProcess, type Process } from '../model/process.ts'
import { createScheduler, type Scheduler } from '../model/scheduler.ts'
import { createStory, type Story } from '../model/story.ts'
import { createWire, type Wire } from '../model/wire.ts'

export const REGION = 'eu-west-1'
const START = Date.UTC(2026, 5, 1, 12)

export const silent = { info: () => {}, warn: () => {}, error: () => {} }

/** What befalls whom: the part of a plan that every stage understands. */
export type Troubles = {
  /** All luck: latencies, transactions that last, reads that lag. 0: none of it. */
  readonly seed: number
  readonly faults: readonly Fault[]
  /** Seconds from the start. */
  readonly outages: readonly Outage[]
}

export type StageOptions = Troubles & {
  readonly tables: readonly string[]
  /** Told of every entry that a queue accepts, duplicates included. */
  readonly onAccept?: (accepted: Accepted) => void
  /** Told of every entry of a batch that was not taken. */
  readonly onRefuse?: (entry: Pick<Accepted, 'queue' | 'entry' | 'by'>) => void
  /** Told of a request with two entries of one group, or of none: the second may be taken, and the first not. */
  readonly onTwice?: (queue: string) => void
}

/** Tables, queues, virtual time and trouble, on which a few actors play a part of the whole. */
export type Stage = {
  readonly scheduler: Scheduler
  readonly story: Story
  readonly wire: Wire
  readonly dynamo: ModelDynamo
  readonly sqs: ModelSqs
  readonly spawn: (role: Role) => Process
  /** By process: told before it dies or stands still. */
  readonly onStop: (listener: (process: Process) => void) => void
  readonly luck: (...parts: readonly (string | number)[]) => number
  readonly breaches: readonly string[]
  readonly breach: (text: string) => void
  readonly isCalm: () => boolean
  /** No more faults and outages from now on. */
  readonly calm: () => void
}

export function openStage(options: StageOptions): Stage {
  const { seed, faults, outages, tables, onAccept = () => {}, onRefuse = () => {}, onTwice = () => {} } = options
  const scheduler = createScheduler(START)
  const story = createStory(scheduler.now)
  const breaches: string[] = []
  const stops: ((process: Process) => void)[] = []
  let begun: number | undefined = START
  let processes = 0
  const luck: Stage['luck'] = (...parts) => chance(seed, ...parts)
  const wire = createWire({ scheduler, seed, faults, outages: () => outages, story, chapter: () => begun })
  const clock: Clock = {
    now: scheduler.now,
    sleep: (ms) => new Promise((resolve) => void scheduler.in(ms, resolve)),
    random: () => 0.5,
    id: () => 'none',
  }
  const ignored = { onRead: () => {}, onRefused: () => {}, onSend: () => {}, onTwice }
  const dynamoOptions = { scheduler, luck, wire, tables, region: REGION, describe: describeDynamo(story), ...ignored }
  const sqsOptions = { clock, luck, wire, refuses: () => undefined, onAccept, onRefuse, describe: describeSqs(story) }
  const dynamo = createModelDynamo(dynamoOptions)
  const sqs = createModelSqs({ ...ignored, ...sqsOptions })
  const spawn = (role: Role): Process => {
    processes += 1
    const name = `${role} ${processes}`
    let draws = 0
    return createProcess({
      scheduler,
      role,
      name,
      skew: 0,
      random: () => luck('random', name, ++draws),
      tell: story.tell,
      stops: (process) => {
        for (const stop of stops) stop(process)
      },
    })
  }
  return {
    scheduler,
    story,
    wire,
    dynamo,
    sqs,
    spawn,
    onStop: (listener) => void stops.push(listener),
    luck,
    breaches,
    breach: (text) => {
      story.tell('BREACH', text)
      breaches.push(text)
    },
    isCalm: () => begun === undefined,
    calm: () => {
      story.tell('—', 'calm')
      begun = undefined
    },
  }
}
