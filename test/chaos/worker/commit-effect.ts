import type { HandlerContext } from '../../../src/consumer/handler-context.ts'
import { isOutboxError } from '../../../src/errors.ts'
import type { Event, NewEvent } from '../../../src/event/event.ts'
import type { AttributeWrite } from '../../../src/outbox/client-write.ts'
import type { EventData } from '../workload/event-data.ts'

type Effect = {
  readonly table: string
  readonly handler: string
  readonly event: Event<EventData>
  readonly process: string
}

/**
 * Commits the effect: a row that counts how often it happened and, for an ordered event, the highest number of its group,
 * which must grow. Where it does not, the effect says so: whether it was allowed to come late is for the audit to judge.
 */
export async function commitEffect(ctx: HandlerContext, effect: Effect): Promise<void> {
  const events = effect.handler === 'main/apply' ? followUps(effect.event) : []
  const commit = (writes: readonly AttributeWrite[]) => ctx.commit(writes, { events })
  const { group } = effect.event
  if (group === undefined) return void (await commit([countEffect(effect, false)]))
  try {
    await commit([countEffect(effect, false), raiseHighest(effect)])
  } catch (error) {
    if (!isOutboxError(error, 'CONDITION_FAILED')) throw error
    await commit([countEffect(effect, true)])
  }
}

function countEffect({ table, handler, event, process }: Effect, late: boolean): AttributeWrite {
  const { id, source, group, sequence } = event
  return {
    Update: {
      TableName: table,
      Key: { pk: { S: `E#${handler}#${id}` } },
      UpdateExpression: `SET #by = :by${late ? ', late = :late' : ''}${group === undefined ? '' : ', #group = :group, seq = :seq'} ADD times :one`,
      ExpressionAttributeNames: { '#by': 'by', ...(group === undefined ? {} : { '#group': 'group' }) },
      ExpressionAttributeValues: {
        ':by': { S: process },
        ':one': { N: '1' },
        ...(late ? { ':late': { BOOL: true } } : {}),
        ...(group === undefined ? {} : { ':group': { S: `${source}/${group}` }, ':seq': { N: String(sequence) } }),
      },
    },
  }
}

function raiseHighest({ table, handler, event }: Effect): AttributeWrite {
  const { source, group, sequence } = event
  return {
    Update: {
      TableName: table,
      Key: { pk: { S: `H#${handler}#${source}/${group}` } },
      UpdateExpression: 'SET seq = :seq ADD effects :one',
      ConditionExpression: 'attribute_not_exists(seq) OR seq < :seq',
      ExpressionAttributeValues: { ':seq': { N: String(sequence) }, ':one': { N: '1' } },
    },
  }
}

/** What comes of an event: the audit looks for exactly these. */
function followUps({ id, data }: Event<EventData>): NewEvent<EventData>[] {
  const follow: NewEvent<EventData>[] = data.follow
    ? [{ source: 'shop', type: 'follow', key: `follow-${id}`, data: { of: id } }]
    : []
  const trail: NewEvent<EventData>[] =
    data.trail === undefined
      ? []
      : [{ source: 'shop', type: 'trail', group: data.trail, sequence: 'auto', data: { of: id } }]
  return [...follow, ...trail]
}
