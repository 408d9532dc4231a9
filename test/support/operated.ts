import { type AttributeValue, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { eventId, type Identity, sha256 } from '../../src/event/identity.ts'
import type { OutboxSystem } from '../../src/ops/system.ts'
import { deadShard, type RowKey, rowKey } from '../../src/outbox/row.ts'
import type { RowImage } from '../../src/relay/row-image.ts'
import { startLocalAws } from '../../src/testing/local-aws.ts'
import type { LocalAwsOptions } from '../../src/testing/local-aws-options.ts'
import { bodyOf, identityOf, type TestEvent } from './consumer-kit.ts'
import { sendLetter } from './dead-letters.ts'

/** An outbox with one consumer on the engines, where nothing runs: rows, entries and letters are put there as they would be. */
export async function openOperated(options: LocalAwsOptions = {}) {
  const aws = await startLocalAws(options)
  const queue = await aws.createQueue('shop', { deadLetter: true })
  const { dynamo, sqs, clock, outboxTable, ledgerTable } = aws
  const deadLetterQueueUrl = queue.deadLetterUrl ?? ''
  const system: OutboxSystem = {
    dynamo,
    sqs,
    outboxTable,
    consumers: [{ name: 'shop', ledgerTable, queueUrl: queue.url, deadLetterQueueUrl }],
    clock,
  }
  const put = (TableName: string, Item: Record<string, AttributeValue>) =>
    dynamo.send(new PutItemCommand({ TableName, Item }))
  const get = async (TableName: string, { pk, sk }: RowKey) => {
    const Key = { pk: { S: pk }, sk: { S: sk } }
    const { Item } = await dynamo.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }))
    return Item === undefined ? undefined : unmarshall(Item)
  }
  return {
    aws,
    /** The queue with its dead-letter queue, as a consumer is connected to it. */
    queue,
    system,
    putRow: (image: RowImage) => put(outboxTable, image as Record<string, AttributeValue>),
    row: (identity: Identity) => get(outboxTable, rowKey(identity)),
    entry: (event: TestEvent, name: string) => get(ledgerTable, { pk: eventId(identityOf(event)), sk: name }),
    /** A handler's dead entry, and its copy in the dead-letter queue. */
    die: async (event: TestEvent, handler: string, reason: string) => {
      const id = eventId(identityOf(event))
      await put(ledgerTable, {
        pk: { S: id },
        sk: { S: handler },
        status: { S: 'dead' },
        token: { S: 't' },
        failure: { S: reason },
        ...Object.fromEntries(
          Object.entries({ lease: 1, attempts: 8, due: 1, life: 1000, expires: 2_000_000_000 }).map(([name, value]) => [
            name,
            { N: String(value) },
          ]),
        ),
      })
      await sendLetter(sqs, deadLetterQueueUrl, {
        body: bodyOf(event),
        group: event.group ?? id,
        deduplicationId: sha256(`${id} ${handler}`),
        note: { life: 2000, handlers: [handler], attempts: 8, reason },
      })
    },
    depths: () => ({ queue: aws.queue(queue.url).depth(), deadLetters: aws.queue(deadLetterQueueUrl).depth() }),
    arrived: () => aws.queue(queue.url).receive(10),
  }
}

export type Operated = Awaited<ReturnType<typeof openOperated>>

/** A row as the relay leaves one that a destination refused. */
export function deadAs(image: RowImage, failure: string): RowImage {
  return {
    ...image,
    shard: { S: deadShard({ pk: image['pk']?.S ?? '', sk: image['sk']?.S ?? '' }) },
    failure: { S: failure },
  }
}
