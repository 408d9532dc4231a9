import type { Publisher } from '../../../src/relay/publisher.ts'
import type { RelayOptions } from '../../../src/relay/relay-options.ts'
import { createSqsPublisher } from '../../../src/relay/sqs-publisher.ts'
import { CONSUMERS, ROUTES } from './plan.ts'
import type { Process } from './process.ts'
import { REGION, silent, type World } from './world.ts'

/** What relay and sweeper are made of in one process. */
export function relayOptions(world: World, process: Process): RelayOptions {
  const client = world.sqs.clientFor(process)
  const publishers = new Map<string, Publisher>(
    CONSUMERS.map(({ queue }) => [queue, createSqsPublisher({ client, queueUrl: world.queue(queue).url })]),
  )
  const routes = Object.entries(ROUTES).map(([type, queues]) => ({
    type,
    to: queues.flatMap((queue) => publishers.get(queue) ?? []),
  }))
  return {
    client: world.dynamo.clientFor(process),
    tableName: 'outbox',
    routes,
    region: REGION,
    clock: process.clock,
    logger: silent,
  }
}
