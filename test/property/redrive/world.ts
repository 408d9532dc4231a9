import { encodeBody } from '../../../src/event/codec.ts'
import { eventId, eventKey, type Identity, sha256 } from '../../../src/event/identity.ts'
import { encodeLifeNote, LIFE_ATTRIBUTE } from '../../../src/event/life.ts'
import type { LocalQueue } from '../../../src/testing/local-queue.ts'
import { keyOf, type Table } from '../model/engine/table.ts'
import { openStage, type Stage } from '../stage/stage.ts'
import type { Act, Letter, RedrivePlan } from './plan.ts'
import { createRedriveRules, type RedriveRules } from './redrive-rules.ts'

export const SOURCE = 'shop'
export const TYPE = 'stepped'
export const CONSUMER = 'c'
export const HANDLERS = ['one', 'two'] as const
export const MAX_ATTEMPTS = 3
/** The round in which they have died. */
const LIFE = 1000

/** An event of which there is a letter, and the handlers that are still to have their effect. */
export type Dead = { readonly id: string; readonly identity: Identity; readonly handlers: readonly string[] }

export type World = Stage & {
  readonly plan: RedrivePlan
  readonly ledger: Table
  readonly data: Table
  readonly queue: LocalQueue
  readonly deadLetters: LocalQueue
  readonly dead: readonly Dead[]
  readonly rules: RedriveRules
  readonly nextAct: (id: string, handler: string) => Act
}

export async function openWorld(plan: RedrivePlan): Promise<World> {
  const stage = openStage({
    ...plan,
    tables: ['ledger', 'data'],
    onAccept: (accepted) => rules.accepted(accepted),
    onRefuse: (entry) => rules.notTaken(entry),
    onTwice: (name) => {
      if (plan.fifo) stage.breach(`two of one group in one request to ${name}`)
    },
  })
  const { dynamo, sqs, story } = stage
  const rules = createRedriveRules(stage, plan.fifo)
  const suffix = plan.fifo ? '.fifo' : ''
  const [queue, deadLetters] = ['q', 'q-dead'].map((name) =>
    sqs.create(`${name}${suffix}`, { VisibilityTimeout: '900' }),
  )
  if (queue === undefined || deadLetters === undefined) throw new Error('two queues')
  const [ledger, data] = ['ledger', 'data'].map(dynamo.table) as [Table, Table]
  const runs = new Map<string, number>()
  const dead: Dead[] = []
  const world: World = {
    ...stage,
    plan,
    ledger,
    data,
    queue,
    deadLetters,
    dead,
    rules,
    nextAct: (id, handler) => {
      if (stage.isCalm()) return 'ok'
      const run = runs.get(`${id} ${handler}`) ?? 0
      runs.set(`${id} ${handler}`, run + 1)
      const place = Math.floor(stage.luck('script', id, handler) * plan.scripts.length)
      return plan.scripts[place]?.[run] ?? 'ok'
    },
  }
  const letters = [
    ...plan.letters,
    ...Array.from({ length: plan.more }, (): Letter => ({ group: undefined, from: 'one' })),
  ]
  for (const [n, letter] of letters.entries()) {
    const { group } = letter
    const identity = group === undefined ? { source: SOURCE, key: `k${n}` } : { source: SOURCE, group, sequence: n + 1 }
    story.name(eventId(identity), eventKey(identity))
    dead.push(await die(world, identity, letter.from))
  }
  return world
}

/** What a consumer leaves of an event of which a handler has given up; or SQS, of a message that nobody has handled. */
async function die({ ledger, sqs, deadLetters }: World, identity: Identity, from: Letter['from']): Promise<Dead> {
  const id = eventId(identity)
  const group = 'group' in identity ? `${SOURCE}/${identity.group}` : id
  const body = { identity, type: TYPE, time: '2026-06-01T12:00:00Z', dataText: '{}', headers: {}, life: LIFE }
  const entry = { Id: '0', MessageBody: encodeBody(body) }
  const named = (deduplicationId: string) =>
    deadLetters.fifo ? { MessageGroupId: group, MessageDeduplicationId: deduplicationId } : {}
  if (from === 'sqs') {
    await sqs.put(deadLetters.name, { ...entry, ...named(`m-${id}`) })
    return { id, identity, handlers: HANDLERS.map((handler) => `${CONSUMER}/${handler}`) }
  }
  const name = `${CONSUMER}/${from}`
  const numbers = { lease: 1, attempts: MAX_ATTEMPTS, due: 1, life: LIFE, expires: 4_000_000_000 }
  const item = {
    pk: { S: id },
    sk: { S: name },
    status: { S: 'dead' },
    token: { S: 'somebody' },
    ...Object.fromEntries(Object.entries(numbers).map(([attribute, value]) => [attribute, { N: String(value) }])),
  }
  ledger.change(keyOf(item), item)
  const note = encodeLifeNote({ life: LIFE + 1, handlers: [name], attempts: MAX_ATTEMPTS, reason: 'no' })
  const MessageAttributes = { [LIFE_ATTRIBUTE]: { DataType: 'String', StringValue: note } }
  await sqs.put(deadLetters.name, { ...entry, MessageAttributes, ...named(sha256(`${id} ${name}`)) })
  return { id, identity, handlers: [name] }
}
