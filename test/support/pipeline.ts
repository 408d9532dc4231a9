import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { NewEvent } from '../../src/event/event.ts'
import { eventId, type Identity } from '../../src/event/identity.ts'
import { createOutbox, type Outbox } from '../../src/outbox/create-outbox.ts'
import { rowKey } from '../../src/outbox/row.ts'
import type { Route } from '../../src/relay/routes.ts'
import { createSqsPublisher } from '../../src/relay/sqs-publisher.ts'
import { startLocalAws } from '../../src/testing/local-aws.ts'
import type { LocalAws } from '../../src/testing/local-aws-options.ts'
import type { LocalQueueInfo } from '../../src/testing/local-queue-info.ts'

export const silent = { info: () => {}, warn: () => {}, error: () => {} }

/** Where events of a source go: a queue of the source's name, or these. */
export type PipelineOptions = {
  readonly speed: number
  readonly sources: readonly string[]
  /** Further destinations, by source: queue URLs made of the source's own. */
  readonly also?: Readonly<Record<string, (url: string) => string>>
}

export type Pipeline = {
  readonly aws: LocalAws
  readonly outbox: Outbox
  readonly queue: (source: string) => LocalQueueInfo & { readonly deadLetterUrl: string }
  /** Sources whose stream records get lost. */
  readonly lost: Set<string>
  readonly write: (...events: readonly NewEvent[]) => Promise<unknown>
  /** The row of an event. */
  readonly row: (identity: Identity) => Promise<Record<string, unknown> | undefined>
  /** The ledger's row of an event and a handler (`consumer/handler`). */
  readonly entry: (identity: Identity, name: string) => Promise<Record<string, unknown> | undefined>
  readonly deadLetters: (source: string) => number
}

/** A local AWS with relay and sweeper, where each source has a queue of its own: one for each test. */
export async function startPipeline({ speed, sources, also = {} }: PipelineOptions): Promise<Pipeline> {
  const aws = await startLocalAws({ speed, onFunctionError: () => {} })
  const queues = new Map<string, LocalQueueInfo>()
  const routes: Route[] = []
  for (const source of sources) {
    const queue = await aws.createQueue(source, { deadLetter: true })
    queues.set(source, queue)
    const more = also[source]
    const urls = more === undefined ? [queue.url] : [queue.url, more(queue.url)]
    routes.push({ source, to: urls.map((queueUrl) => createSqsPublisher({ client: aws.sqs, queueUrl })) })
  }
  const lost = new Set<string>()
  const isLost = (pk: string): boolean => [...lost].some((source) => pk.slice(2).startsWith(`${source}/`))
  const faults = (records: readonly { readonly dynamodb: { readonly Keys: object } }[]) =>
    records.filter(({ dynamodb }) => !isLost((dynamodb.Keys as { pk: { S: string } }).pk.S))
  await aws.startRelay({ routes, logger: silent, mapping: { faults: faults as never } })
  aws.startSweeper({ routes, logger: silent })
  const outbox = createOutbox({ client: aws.dynamo, tableName: aws.outboxTable, clock: aws.clock })
  const get = async (TableName: string, pk: string, sk: string) => {
    const Key = { pk: { S: pk }, sk: { S: sk } }
    const { Item } = await aws.dynamo.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }))
    return Item === undefined ? undefined : unmarshall(Item)
  }
  const queue = (source: string) => {
    const found = queues.get(source)
    if (found?.deadLetterUrl === undefined) throw new Error(`no queue for ${source}`)
    return { ...found, deadLetterUrl: found.deadLetterUrl }
  }
  return {
    aws,
    outbox,
    queue,
    lost,
    write: (...events) => outbox.transact({ events }),
    row: (identity) => get(aws.outboxTable, rowKey(identity).pk, rowKey(identity).sk),
    entry: (identity, name) => get(aws.ledgerTable, eventId(identity), name),
    deadLetters: (source) => aws.queue(queue(source).deadLetterUrl).depth().visible,
  }
}
