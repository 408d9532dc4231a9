import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { isOutboxError } from '../../../src/errors.ts'
import type { NewEvent } from '../../../src/event/event.ts'
import type { AttributeWrite } from '../../../src/outbox/client-write.ts'
import { createOutbox } from '../../../src/outbox/create-outbox.ts'
import { rowKey } from '../../../src/outbox/row.ts'
import type { WriteResult } from './books.ts'
import type { Step } from './plan.ts'
import type { Process } from './process.ts'
import { REFUSED, REGION, type World } from './world.ts'

const FLOOD = 120
const MIXED = 32

type Transaction = {
  readonly events: readonly NewEvent[]
  readonly writes?: readonly AttributeWrite[]
  readonly onExisting?: 'cancel' | 'commit'
  readonly region?: string
  readonly isJob?: boolean
}

/** Steps that write. Each is a process of its own: it may die in mid-call. */
export async function write(world: World, step: Step, number: string): Promise<void> {
  const process = world.spawn('writer')
  if (step.do === 'flood') return flood(world, process, { step, number })
  const transaction = await transactionOf(world, process, { step, number })
  if (transaction === undefined) return
  for (const event of transaction.events) {
    if (event.key !== undefined) world.knows({ source: event.source, key: event.key })
    else if (event.sequence !== 'auto')
      world.knows({ source: event.source, group: event.group, sequence: event.sequence })
  }
  await transact(world, process, { transaction, number })
}

async function transactionOf(
  world: World,
  process: Process,
  { step, number }: { readonly step: Step; readonly number: string },
): Promise<Transaction | undefined> {
  switch (step.do) {
    case 'auto':
      return {
        events: Array.from({ length: step.count }, (_, n) => ({
          ...base(
            {
              type: step.type,
              trait: step.trait === 'refused' && n !== Math.min(1, step.count - 1) ? undefined : step.trait,
            },
            n,
          ),
          group: step.group,
          sequence: 'auto' as const,
        })),
      }
    case 'mixed':
      return {
        events: Array.from({ length: MIXED }, (_, n) => {
          return { ...base({ type: n === 0 ? 'both' : 'one' }, n), group: step.group, sequence: 'auto' as const }
        }),
      }
    case 'numbered':
      return numbered(world, process, step)
    case 'sparse': {
      const group = `sparse-${step.group}`
      const highest = await version(world, process, group)
      const sequence = highest + 2
      return { events: [{ ...base(step, sequence), group, sequence }], writes: [setVersion(group, highest, sequence)] }
    }
    case 'late': {
      const group = `late-${step.group}`
      const highest = await version(world, process, group)
      const jump = (sequence: number) => ({ ...base(step, sequence), group, sequence })
      const first: Transaction = { events: [jump(highest + 2)], writes: [setVersion(group, highest, highest + 2)] }
      const later = world.spawn('writer')
      world.scheduler.in(Math.floor(world.luck('late', group, highest) * 5000), () => {
        world.knows({ source: 'shop', group, sequence: highest + 1 })
        void transact(world, later, { transaction: { events: [jump(highest + 1)] }, number: `${number} late` })
      })
      return first
    }
    case 'keyed':
      return { events: [{ ...base(step, step.content), key: step.key }], onExisting: step.onExisting }
    case 'job':
      return { events: [{ ...base({ type: 'one' }, 0), key: step.key }], writes: [once(step.key)], isJob: true }
    case 'many':
      return {
        events: Array.from({ length: step.count }, (_, n) => ({ ...base({ type: 'one' }, n), key: `${step.key}${n}` })),
      }
    case 'doomed':
      return { events: [{ ...base({ type: 'one' }, 0), key: step.key }], writes: [impossible()] }
    case 'foreign-region':
      return { events: [{ ...base({ type: 'one' }, 0), key: step.key }], region: 'ap-south-2' }
    default:
      return undefined
  }
}

/** More than a relay looks through for the start of a tail. */
async function flood(
  world: World,
  process: Process,
  { step: { group, sparse }, number }: { readonly step: Step & { do: 'flood' }; readonly number: string },
): Promise<void> {
  for (const part of [0, 1]) {
    const numbers = Array.from({ length: FLOOD / 2 }, (_, n) => (part * (FLOOD / 2) + n + 1) * 2)
    const events = numbers.map((sequence) => {
      const event = { source: 'shop', type: 'one', data: { flood: true }, group }
      return sparse ? { ...event, sequence } : { ...event, sequence: 'auto' as const }
    })
    await transact(world, process, { transaction: { events }, number: `${number} ${part}` })
  }
}

async function numbered(world: World, process: Process, step: Step & { do: 'numbered' }): Promise<Transaction> {
  const group = `own-${step.group}`
  const highest = await version(world, process, group)
  const events = Array.from({ length: step.count }, (_, n) => ({ ...base(step, n), group, sequence: highest + 1 + n }))
  return { events, writes: [setVersion(group, highest, highest + step.count)] }
}

/** Calls the outbox and notes what it says. The transaction's own mark tells later what was true. */
async function transact(
  world: World,
  process: Process,
  { transaction, number }: { readonly transaction: Transaction; readonly number: string },
): Promise<void> {
  const { events, writes = [], onExisting = 'cancel', region = REGION } = transaction
  const { books, story } = world
  const client = world.dynamo.clientFor(process)
  const outbox = createOutbox({ client, tableName: 'outbox', clock: process.clock, region })
  const mark = `mark ${number}`
  const note = (said: WriteResult['said']): void => {
    books.results.set(mark, { mark, said })
    story.tell(process.name, `hears: ${said}`)
  }
  note('nothing')
  const counted = {
    Update: {
      TableName: 'data',
      Key: itemKey(mark),
      UpdateExpression: 'ADD n :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
    },
  }
  try {
    const { duplicate } = await outbox.transact({ writes: [counted, ...writes], events, onExisting })
    note(duplicate ? 'duplicate' : 'committed')
    if (duplicate) checkSame(world, events)
  } catch (error) {
    if (!isOutboxError(error)) return books.breach(`transact threw ${String(error)}`)
    if (error.code.startsWith('INVALID')) books.breach(`${mark} is told that its call is wrong: ${error.message}`)
    if (error.code === 'CONDITION_FAILED' && transaction.isJob === true && isStored(world, events))
      books.breach(`${mark}: a job that was done is told ${error.code}`)
    note(error.code === 'OUTCOME_UNKNOWN' ? 'unknown' : 'failed')
    if (error.code === 'OUTCOME_UNKNOWN' && isProven(world, process, { mark, events }))
      books.breach(`${mark}: unknown, though its rows prove it`)
  }
}

function base({ type, trait }: { readonly type: string; readonly trait?: string | undefined }, n: number) {
  // U+FFFF and an emoji: what a queue refuses, and what it takes.
  const traits = { ...(trait === 'follow' ? { follow: true } : {}), ...(trait === 'refused' ? { REFUSED } : {}) }
  return { source: 'shop', type, data: { n, text: '\uffff\u{1f600}', ...traits } }
}

async function version(world: World, process: Process, group: string): Promise<number> {
  const client = world.dynamo.clientFor(process)
  const input = { TableName: 'data', Key: itemKey(`version ${group}`), ConsistentRead: true }
  const { Item } = await client.send(new GetItemCommand(input))
  return Number(Item?.version?.N ?? 0)
}

function setVersion(group: string, from: number, to: number): AttributeWrite {
  return {
    Update: {
      TableName: 'data',
      Key: itemKey(`version ${group}`),
      UpdateExpression: 'SET version = :to',
      ConditionExpression: from === 0 ? 'attribute_not_exists(pk)' : 'version = :from',
      ExpressionAttributeValues: { ':to': { N: String(to) }, ...(from === 0 ? {} : { ':from': { N: String(from) } }) },
    },
  }
}

/** The work of a job: a condition of its own that no second run fulfils. */
function once(job: string): AttributeWrite {
  const Put = { TableName: 'data', Item: itemKey(`job ${job}`), ConditionExpression: 'attribute_not_exists(pk)' }
  return { Put }
}

/** Its rows stand there, and nothing was in the way of reading them. */
function isProven(
  { data, wire }: World,
  process: Process,
  { mark, events }: { readonly mark: string; readonly events: readonly NewEvent[] },
): boolean {
  const couldRead = wire.met(process).every((met) => met.endsWith('TransactWriteItems') && !met.startsWith('cut-off'))
  return couldRead && events.length > 0 && data.slot(`${mark}\0-`).item !== undefined
}

function isStored({ outbox }: World, events: readonly NewEvent[]): boolean {
  return events.some(({ source, key = '' }) => outbox.slot(`${rowKey({ source, key }).pk}\0-`).item !== undefined)
}

/** Only equal content is a duplicate. */
function checkSame({ outbox, books }: World, events: readonly NewEvent[]): void {
  for (const { source, key, data } of events) {
    if (key === undefined) continue
    const { pk, sk } = rowKey({ source, key })
    const body = outbox.slot(`${pk}\0${sk}`).item?.body?.S
    if (body !== undefined && !body.includes(`"n":${(data as { n: number }).n},`))
      books.breach(`${key}: other content is told a duplicate`)
  }
}

function impossible(): AttributeWrite {
  return { ConditionCheck: { TableName: 'data', Key: itemKey('nowhere'), ConditionExpression: 'attribute_exists(pk)' } }
}

function itemKey(name: string) {
  return { pk: { S: name }, sk: { S: '-' } }
}
