import { createConsumer } from '../../../src/consumer/consumer.ts'
import { createSqsQueue } from '../../../src/consumer/sqs-queue.ts'
import { createLedger } from '../../../src/ledger/dynamo-ledger.ts'
import { createRelay } from '../../../src/relay/relay.ts'
import type { RelayOptions } from '../../../src/relay/relay-options.ts'
import { createSqsPublisher } from '../../../src/relay/sqs-publisher.ts'
import { createSweeper } from '../../../src/relay/sweeper.ts'
import type { LambdaContext } from '../../../src/testing/lambda-events.ts'
import { QUEUES, type QueueName, type Role, TYPES } from '../topology.ts'
import { handlersOf } from './handlers.ts'
import { type Station, silent } from './station.ts'

/** A function as Lambda would call it: events are checked by the code under test. */
export type AnyFunction = (event: never, context: LambdaContext) => Promise<unknown>

/** The function of a role; undefined for a role that is none. */
export function functionOf(role: Role, station: Station): AnyFunction | undefined {
  switch (role) {
    case 'relay':
      return createRelay(relayOptions(station))
    case 'sweeper':
      return createSweeper(relayOptions(station)) as AnyFunction
    case 'consumer-main':
      return consumer(station, 'main')
    case 'consumer-side':
      return consumer(station, 'side')
    case 'consumer-plain':
      return consumer(station, 'plain')
    default:
      return undefined
  }
}

function relayOptions({ assignment, clients, clock }: Station): RelayOptions {
  const publishers = Object.fromEntries(
    QUEUES.map((name) => [
      name,
      createSqsPublisher({ client: clients.sqs, queueUrl: assignment.queues[name].url, name }),
    ]),
  ) as Record<QueueName, ReturnType<typeof createSqsPublisher>>
  const routes = Object.entries(TYPES).map(([type, { to }]) => ({ type, to: to.map((name) => publishers[name]) }))
  return { client: clients.dynamo, tableName: assignment.outboxTable, routes, clock, logger: silent }
}

function consumer(station: Station, name: QueueName): AnyFunction {
  const { assignment, clients, clock, outbox } = station
  const { url: queueUrl, deadLetterUrl: deadLetterQueueUrl } = assignment.queues[name]
  return createConsumer({
    name,
    clock,
    outbox,
    logger: silent,
    handlers: handlersOf(station, name),
    ledger: createLedger({ client: clients.dynamo, tableName: assignment.ledgerTable, clock }),
    queue: createSqsQueue({ client: clients.sqs, queueUrl, deadLetterQueueUrl }),
  })
}
