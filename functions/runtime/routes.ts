import { createEventBridgePublisher } from '../../src/relay/event-bridge-publisher.ts'
import { createSqsPublisher, type Publisher, type Route } from '../../src/relay/index.ts'
import type { RouteSetting, Target } from '../../src/settings.ts'
import { createEventBridgeClient, createSqsClient } from './aws-clients.ts'

/** Routes with publishers. A destination that several routes name has one publisher; a client is made only if needed. */
export function connectRoutes(routes: readonly RouteSetting[]): readonly Route[] {
  const connect = createConnector()
  return routes.map(({ to, ...filter }) => ({ ...filter, to: to.map(connect) }))
}

function createConnector(): (target: Target) => Publisher {
  const sqs = once(createSqsClient)
  const eventBridge = once(createEventBridgeClient)
  const known = new Map<string, Publisher>()
  return (target) => {
    const { name } = target
    const key = JSON.stringify(target.kind === 'sqs' ? [name, target.url] : [name, target.bus])
    const publisher =
      known.get(key) ??
      (target.kind === 'sqs'
        ? createSqsPublisher({ client: sqs(), queueUrl: target.url, name })
        : createEventBridgePublisher({ client: eventBridge(), busName: target.bus, name }))
    known.set(key, publisher)
    return publisher
  }
}

function once<Value>(create: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: create() }
    return made.value
  }
}
