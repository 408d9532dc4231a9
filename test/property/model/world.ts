import type { Clock } from '../../../src/clock.ts'
import { eventId, type Identity } from '../../../src/event/identity.ts'
import { fromItem } from '../../../src/ledger/statements.ts'
import type { Logger } from '../../../src/telemetry.ts'
import type { LocalQueue } from '../../../src/testing/local-queue.ts'
import { type Books, committedOf, count, createBooks, lifeKey, shortName } from './books.ts'
import { chance } from './chance.ts'
import { describeDynamo, describeSqs } from './describe.ts'
import { createModelDynamo, type ModelDynamo } from './engine/dynamo.ts'
import { createModelSqs, type ModelSqs } from './engine/sqs.ts'
import type { Table } from './engine/table.ts'
import type { Item } from './engine/values.ts'
import type { Role } from './faults.ts'
import { watchLedger } from './ledger-rules.ts'
import { CONSUMERS, type Plan } from './plan.ts'
import { createProcess, type Process } from './process.ts'
import { faultOfCopy, watchHandling, watchQueues } from './queue-rules.ts'
import { watchRedrives } from './redrive-rules.ts'
import { watchRequests } from './request-rules.ts'
import { watchRows } from './row-rules.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import { watchSends } from './send-rules.ts'
import { createStory, type Story } from './story.ts'
import { createWire, type Wire } from './wire.ts'

export const REGION = 'eu-west-1'
/** Ten are on their way before the first can have failed, and each may be tried again before the third has. */
export const MAX_SILENT_REQUESTS = 13
const DAY_MS = 86_400_000
const START = Date.UTC(2026, 5, 1, 12)
/** What stands for content that the second queue does not take yet. */
export const REFUSED = 'refuse-me'

/** Tables, queues, time and luck: all that actors act on. */
export type World = {
  readonly plan: Plan
  readonly scheduler: Scheduler
  readonly story: Story
  readonly books: Books
  readonly wire: Wire
  readonly dynamo: ModelDynamo
  readonly sqs: ModelSqs
  readonly outbox: Table
  readonly ledger: Table
  readonly data: Table
  readonly queue: (name: string) => LocalQueue
  readonly spawn: (role: Role) => Process
  readonly luck: (...parts: readonly (string | number)[]) => number
  /** No more faults, outages, scripts and refusals. */
  readonly isCalm: () => boolean
  /** Seconds of the plan count from here; undefined: calm. */
  readonly beginChapter: (chapter: number | undefined) => void
  /** What each relay or sweeper sent, and whether anything was ever answered. */
  readonly tried: (process: Process) => { readonly requests: number; readonly answered: boolean }
  /** Runs of each handler for each event. */
  readonly runs: Map<string, number>
  /** Events whose messages a process knows to be somebody else's by now. */
  readonly lost: Map<Process, Set<string>>
  readonly knows: (identity: Identity) => void
  /** Told of a relay or sweeper that has ended by itself. */
  readonly ended: (process: Process) => void
  /** What a process has claimed alone and will not end: once it lapses it counts as that handler's own crash. */
  readonly noteCrashes: (process: Process) => void
}

export const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} }

export function createWorld(plan: Plan): World {
  const scheduler = createScheduler(START)
  const story = createStory(scheduler.now)
  const books = createBooks(story.tell)
  const { seed, faults } = plan
  const luck = (...parts: readonly (string | number)[]): number => chance(seed, ...parts)
  const current: { chapter: number | undefined; begun: number | undefined } = { chapter: undefined, begun: undefined }
  const outages = () => plan.chapters[current.chapter ?? -1]?.outages ?? []
  const isCalm = (): boolean => current.begun === undefined
  const wire = createWire({ scheduler, seed, faults, outages, story, chapter: () => current.begun })
  const dynamo = createModelDynamo({
    scheduler,
    luck: (...parts) => (isCalm() ? 0.5 : luck(...parts)),
    wire,
    region: REGION,
    tables: ['outbox', 'ledger', 'data'],
    onRefused: (process, table, item) => {
      if (table === 'ledger') checkOwn(process, item)
      const isOwnEnd = table === 'ledger' && item?.status?.S === 'done' && process.owns(item.token?.S ?? '')
      if (isOwnEnd && wire.met(process).length === 0)
        books.breach(`${process.name} ends once more what its commit has ended: ${item?.sk?.S}`)
    },
    onLook: (process) => sends.looks(process),
    onRead: (process, keys, begun) => sends.readAt(process, keys, begun),
    describe: describeDynamo(story),
  })
  const lost = new Map<Process, Set<string>>()
  /** A process asks the ledger for nothing of a message that it knows to be somebody else's. */
  const checkOwn = (process: Process | undefined, item: Item | undefined): void => {
    if (process !== undefined && lost.get(process)?.has(item?.pk?.S ?? ''))
      books.breach(`${process.name} asks for ${story.nameOf(item?.pk?.S ?? '')}, whose message is not its own`)
  }
  const refuses = (queue: string, body: string): boolean => {
    const lasts = current.begun !== undefined && scheduler.now() < current.begun + plan.refusesFor * 1000
    return lasts && queue === 'q2.fifo' && body.includes(REFUSED)
  }
  const clock: Clock = {
    now: scheduler.now,
    sleep: (ms) => new Promise((resolve) => void scheduler.in(ms, resolve)),
    random: () => 0.5,
    id: () => 'none',
  }
  const sqs = createModelSqs({
    clock,
    luck,
    wire,
    describe: describeSqs(story),
    refuses: (queue, { MessageBody }) =>
      refuses(queue, MessageBody)
        ? { code: 'InvalidMessageContents', message: 'not these characters', senderFault: true }
        : undefined,
    onSend: (process, entries) =>
      sends.sending(
        process,
        entries.map(({ MessageBody }) => MessageBody),
      ),
    onSpoilt: (by, queue, entries) => requests.condemned(by, queue, entries),
    onTwice: (queue) => books.breach(`two entries of one group in one request to ${queue}`),
    onRefuse: (entry) => redrives.notTaken(entry),
    onAccept: (accepted) => {
      rules.accepted(accepted)
      sends.accepted(accepted)
      redrives.accepted(accepted)
      requests.accepted(accepted)
      const fault = accepted.queue.includes('-dead') ? faultOfCopy(accepted.entry, ledger) : undefined
      if (fault !== undefined) books.breach(fault)
    },
  })
  const queues = new Map<string, LocalQueue>()
  for (const { queue } of CONSUMERS) {
    for (const name of [queue, queue.replace('.', '-dead.')])
      queues.set(name, sqs.create(name, { VisibilityTimeout: String(plan.visibility) }))
  }
  const [outbox, ledger, data] = ['outbox', 'ledger', 'data'].map(dynamo.table) as [Table, Table, Table]
  outbox.onChange(({ after, at }) => {
    const row = after === undefined ? undefined : committedOf(after, at)
    if (row !== undefined) story.name(row.id, shortName(row.identity))
  })
  const rules = watchQueues({ rows: outbox, ledger, books, nameOf: story.nameOf })
  const requests = watchRequests({ wire, breach: books.breach })
  const redrives = watchRedrives({ now: scheduler.now, breach: books.breach, nameOf: story.nameOf })
  const sends = watchSends({ rows: outbox, plan, now: scheduler.now, breach: books.breach, nameOf: story.nameOf })
  watchRows(outbox, books, { has: rules.has, refuses: (queue, body) => queue === 'q2.fifo' && body.includes(REFUSED) })
  outbox.onChange(sends.changed)
  const skew = (role: Role): number => (plan.skews[role] ?? 0) * 1000
  watchLedger(ledger, books, { skew: Math.abs(skew('consumer')), nameOf: story.nameOf })
  ledger.onChange(({ after, by }) => checkOwn(by, after))
  watchHandling({ rows: outbox, ledger, books, nameOf: story.nameOf })

  /**
   * Writers differ among each other: the later one of a group may be the earlier one by its clock. By a day and more they
   * do not, since the first events of a group would then be numbered in two days: there all are wrong alike.
   */
  const skewOf = (role: Role, name: string): number => {
    const isOne = role === 'writer' && skew(role) < DAY_MS && luck('skewed', name) < 0.5
    return isOne ? 0 : skew(role)
  }
  let processes = 0
  const noteCrashes = (process: Process): void => {
    for (const item of ledger.items()) {
      const entry = fromItem(item)
      if (entry?.status === 'alone' && process.owns(entry.token)) count(books.spent, lifeKey(entry))
    }
  }
  const spawn = (role: Role): Process => {
    processes += 1
    const name = `${role} ${processes}`
    let draws = 0
    const random = (): number => luck('random', name, ++draws)
    const process = createProcess({
      scheduler,
      role,
      name,
      skew: skewOf(role, name),
      random,
      tell: story.tell,
      stops: noteCrashes,
    })
    return process
  }
  return {
    plan,
    scheduler,
    story,
    books,
    wire,
    dynamo,
    sqs,
    outbox,
    ledger,
    data,
    queue: (name) => queues.get(name) as LocalQueue,
    spawn,
    luck,
    isCalm,
    beginChapter: (chapter) => {
      current.chapter = chapter
      current.begun = chapter === undefined ? undefined : scheduler.now()
    },
    runs: new Map(),
    lost,
    tried: wire.tried,
    noteCrashes,
    ended: requests.ended,
    knows: (identity) => story.name(eventId(identity), shortName(identity)),
  }
}
