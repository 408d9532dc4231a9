import { type AttributeValue, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { errorName } from '../errors.ts'
import type { RowKey } from '../outbox/row.ts'
import { itemKey } from '../outbox/row-queries.ts'
import type { CheckedSystem } from './system.ts'

/** Partition key of what is known of replays; sort key: what they replay. No event's, and never in the index. */
const REPLAY_PK = 'H#replay'
/** What was not finished by then is begun anew. Seconds. */
const KEEP_SECONDS = 30 * 86_400

/** A replay under way, or one that has ended. */
export type ReplayRecord = {
  readonly name: string
  /** The later life that it gives, ms: when it began. It tells the rows that it has moved from all others. */
  readonly life: number
  /** Everything up to this row was looked at. */
  readonly after?: RowKey
  /** ms; when it had looked at everything. */
  readonly ended?: number
}

type Change = {
  readonly set: Readonly<Record<string, AttributeValue>>
  readonly remove?: readonly string[]
  readonly condition: string
  readonly values?: Readonly<Record<string, AttributeValue>>
}

/**
 * Begins a replay, or finds the one of this name, under way or ended:
 *
 *     operator: begins (life 7) ── moves rows 1, 2 with life 7 ── dies
 *     again:    begins: refused, finds life 7 ── rows 1, 2 have life 7: moved already ── moves 3, 4 … ── ends
 *
 * Two at once share one life, and each row is moved by one of them. `again`: one that has ended begins anew.
 */
export async function beginReplay(system: CheckedSystem, name: string, again: boolean): Promise<ReplayRecord> {
  const now = system.clock.now()
  const set = { life: number(now), expires: number(Math.floor(now / 1000) + KEEP_SECONDS) }
  const condition = again ? 'attribute_not_exists(#life) OR attribute_exists(#ended)' : 'attribute_not_exists(#life)'
  const found = await change(system, name, { set, remove: ['afterPk', 'afterSk', 'ended'], condition })
  return found === undefined ? { name, life: now } : recordOf(name, found)
}

/** Notes how far it came; false if it is no longer this one that is under way. Whoever is behind looks at some rows again. */
export async function noteProgress(
  system: CheckedSystem,
  { name, life }: ReplayRecord,
  after: RowKey,
): Promise<boolean> {
  const set = { afterPk: { S: after.pk }, afterSk: { S: after.sk } }
  const values = { ':mine': number(life) }
  const condition = '#life = :mine AND attribute_not_exists(#ended)'
  return (await change(system, name, { set, condition, values })) === undefined
}

/** Kept, so that the same command run once more (its answer was lost, its process killed) replays nothing. */
export async function endReplay(system: CheckedSystem, { name, life }: ReplayRecord): Promise<void> {
  const set = { ended: number(system.clock.now()) }
  await change(system, name, { set, condition: '#life = :mine', values: { ':mine': number(life) } })
}

/** Undefined if it was written; else what stands there. */
async function change(
  { dynamo, outboxTable }: CheckedSystem,
  name: string,
  { set, remove = [], condition, values = {} }: Change,
): Promise<Readonly<Record<string, AttributeValue>> | undefined> {
  const names = [
    ...new Set([...Object.keys(set), ...remove, ...[...condition.matchAll(/#(\w+)/g)].map((match) => match[1] ?? '')]),
  ]
  const assignments = Object.keys(set).map((attribute) => `#${attribute} = :${attribute}`)
  const removal = remove.length === 0 ? '' : ` REMOVE ${remove.map((attribute) => `#${attribute}`).join(', ')}`
  const command = new UpdateItemCommand({
    TableName: outboxTable,
    Key: itemKey({ pk: REPLAY_PK, sk: name }),
    UpdateExpression: `SET ${assignments.join(', ')}${removal}`,
    ConditionExpression: condition,
    ExpressionAttributeNames: Object.fromEntries(names.map((attribute) => [`#${attribute}`, attribute])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(Object.entries(set).map(([attribute, value]) => [`:${attribute}`, value])),
      ...values,
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  })
  try {
    await dynamo.send(command)
    return undefined
  } catch (error) {
    if (errorName(error) !== 'ConditionalCheckFailedException') throw error
    return (error as { readonly Item?: Record<string, AttributeValue> }).Item ?? {}
  }
}

function recordOf(
  name: string,
  { life, afterPk, afterSk, ended }: Readonly<Record<string, AttributeValue>>,
): ReplayRecord {
  return {
    name,
    life: Number(life?.N),
    ...(afterPk?.S === undefined || afterSk?.S === undefined ? {} : { after: { pk: afterPk.S, sk: afterSk.S } }),
    ...(ended?.N === undefined ? {} : { ended: Number(ended.N) }),
  }
}

function number(value: number): { readonly N: string } {
  return { N: String(value) }
}
