import { type AttributeValue, BatchWriteItemCommand, type WriteRequest } from '@aws-sdk/client-dynamodb'
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { eventId, sha256 } from '../../src/event/identity.ts'
import { encodeLifeNote, LIFE_ATTRIBUTE } from '../../src/event/life.ts'
import { bodyOf, identityOf, type TestEvent } from './consumer-kit.ts'
import { deadAs, type Operated } from './operated.ts'
import { type RowOptions, unorderedRow } from './outbox-rows.ts'

/** When the events were written: before anything that happens in a test. ms */
export const WRITTEN = 1_700_000_000_000

export type DeadEvent = TestEvent & { readonly handler: string; readonly reason: string }

/** As `world.die`, for very many: the ledger's dead entries, and their copies in the dead-letter queue, in this order. */
export async function dieAll({ aws, system }: Operated, events: readonly DeadEvent[]): Promise<void> {
  const entries = events.map(({ handler, reason, ...event }) => ({
    pk: { S: eventId(identityOf(event)) },
    sk: { S: handler },
    status: { S: 'dead' },
    token: { S: 't' },
    failure: { S: reason },
    lease: { N: '1' },
    attempts: { N: '8' },
    due: { N: '1' },
    life: { N: String(WRITTEN) },
    expires: { N: '2000000000' },
  }))
  await putAll(aws, aws.ledgerTable, entries)
  for (const part of partsOf(events, 10))
    await aws.sqs.send(
      new SendMessageBatchCommand({
        QueueUrl: system.consumers[0]?.deadLetterQueueUrl,
        Entries: part.map((event, n) => letterOf(event, n)),
      }),
    )
}

function letterOf({ handler, reason, ...event }: DeadEvent, n: number) {
  const id = eventId(identityOf(event))
  const note = encodeLifeNote({ life: WRITTEN + 1000, handlers: [handler], attempts: 8, reason })
  return {
    Id: String(n),
    MessageBody: bodyOf({ life: WRITTEN, ...event }),
    MessageGroupId: event.group ?? id,
    MessageDeduplicationId: sha256(`${id} ${handler}`),
    MessageAttributes: { [LIFE_ATTRIBUTE]: { DataType: 'String', StringValue: note } },
  }
}

/** Unordered rows `k<n>` of the source `test`, each with the event it is to deliver. */
export function rowsOf(numbers: readonly number[], type: string, options: RowOptions = {}) {
  return numbers.map((n) =>
    unorderedRow(`k${n}`, { source: 'test', type, body: bodyOf({ n, type, life: WRITTEN }), ...options }),
  )
}

export async function putDeadRows({ aws }: Operated, numbers: readonly number[], type: string, failure: string) {
  await putAll(
    aws,
    aws.outboxTable,
    rowsOf(numbers, type).map((row) => deadAs(row, failure)),
  )
}

/** Writes items, 25 a request. */
export async function putAll({ dynamo }: Operated['aws'], TableName: string, items: readonly object[]): Promise<void> {
  for (const part of partsOf(items, 25)) {
    const requests: WriteRequest[] = part.map((Item) => ({
      PutRequest: { Item: Item as Record<string, AttributeValue> },
    }))
    await dynamo.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: requests } }))
  }
}

function partsOf<Item>(items: readonly Item[], size: number): readonly Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size))
}

/** `from` … `to`, both included. */
export function numbers(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, n) => from + n)
}
