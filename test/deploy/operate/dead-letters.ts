import { createConsumer, createLedger, createSqsQueue, on, permanentError } from '../../../src/consumer/index.ts'
import { sqsRecord } from '../../../src/testing/records.ts'
import type { SampleOutputs } from '../sample.ts'
import type { World } from '../world.ts'
import { partsOf } from './rows.ts'

/** An event in a message of the sample's queue, and the handler that gives it up. */
export type Doomed = {
  readonly body: string
  readonly group: string
  readonly type: string
  /** Of the consumer `shop`. */
  readonly handler: string
  readonly reason: string
}

const SILENT = { info: () => {}, warn: () => {}, error: () => {} }
const SECONDS = 300
const BATCHES_AT_ONCE = 4

/**
 * Lets the consumer's own code give events up, in the sample's ledger and dead-letter queue: claim, failure, copy, dead.
 * What stands there after it is what a function leaves whose handlers fail for good. Those of a group die in their order.
 */
export async function dieAll(world: World, outputs: SampleOutputs, doomed: readonly Doomed[]): Promise<void> {
  const consumer = consumerOf(world, outputs, doomed)
  const end = Date.now() + SECONDS * 1000
  const context = { getRemainingTimeInMillis: () => end - Date.now() }
  for (const batches of partsOf(partsOf(doomed, 100), BATCHES_AT_ONCE)) {
    const answers = await Promise.all(
      batches.map((batch) =>
        consumer({ Records: batch.map(({ body, group }) => sqsRecord({ body, groupId: group })) }, context),
      ),
    )
    const kept = answers.flatMap(({ batchItemFailures }) => batchItemFailures)
    if (kept.length > 0) throw new Error(`${kept.length} events were not given up`)
  }
}

function consumerOf(
  { dynamo, sqs }: World,
  { ledgerTable, queueUrl, deadLetterQueueUrl }: SampleOutputs,
  doomed: readonly Doomed[],
) {
  const kinds = new Map(doomed.map((one) => [`${one.type} ${one.handler}`, one]))
  const handlers = [...kinds.values()].map(({ type, handler, reason }) =>
    on(type, handler, () => {
      throw permanentError(reason)
    }),
  )
  const queue = createSqsQueue({ client: sqs, queueUrl, deadLetterQueueUrl })
  return createConsumer({
    name: 'shop',
    ledger: createLedger({ documentClient: dynamo, tableName: ledgerTable }),
    // The messages were never in the queue: there is nothing to hide from others.
    queue: { ...queue, setVisibility: async (_, entries) => entries.map(() => 'changed') },
    handlers,
    logger: SILENT,
  })
}
