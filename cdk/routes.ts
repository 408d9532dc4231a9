import { type IResource, type Stack, Token } from 'aws-cdk-lib'
import type { IEventBus } from 'aws-cdk-lib/aws-events'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { RouteSetting, Target } from '../src/settings.ts'
import type { RoutesFacts } from './rules.ts'

/**
 * Where rows go: a queue of SQS (FIFO, to keep groups in order) or a bus of EventBridge. `name`, 1–64 characters, is
 * recorded in rows that one destination took before another: never change it.
 */
export type OutboxDestination = { readonly name: string } & (
  | { readonly queue: IQueue }
  | { readonly eventBus: IEventBus }
)

/** Which rows go where. A row goes to every destination of every route that takes it. */
export type OutboxRoute = {
  /** @default - rows of every source, and foreign rows, which have none */
  readonly source?: string | readonly string[]
  /** @default - rows of every type, and foreign rows without a type */
  readonly type?: string | readonly string[]
  readonly to: OutboxDestination | readonly OutboxDestination[]
}

/** The plain list that `to` stands for. */
export function destinationsOf({ to }: OutboxRoute): readonly OutboxDestination[] {
  return [to].flat() as readonly OutboxDestination[]
}

/** The route as the functions read it from their environment. */
export function routeSetting(route: OutboxRoute): RouteSetting {
  const { source, type } = route
  return {
    ...(source === undefined ? {} : { source }),
    ...(type === undefined ? {} : { type }),
    to: destinationsOf(route).map(target),
  }
}

function target(destination: OutboxDestination): Target {
  const { name } = destination
  return 'queue' in destination
    ? { kind: 'sqs', name, url: destination.queue.queueUrl }
    : { kind: 'event-bus', name, bus: destination.eventBus.eventBusArn }
}

export function routesFacts(routes: readonly OutboxRoute[]): RoutesFacts['routes'] {
  return routes.map((route) => ({
    destinations: destinationsOf(route).map((destination) => {
      const resource = 'queue' in destination ? destination.queue : destination.eventBus
      return { name: destination.name, address: resource.node.path, region: known(resource.env.region) }
    }),
    takesNothing: [route.source, route.type].some((names) => Array.isArray(names) && names.length === 0),
  }))
}

/** Undefined for what is known only at deployment. */
export function known(text: string): string | undefined {
  return Token.isUnresolved(text) ? undefined : text
}

/** Whether a resource is known to be in another account or Region than a stack. */
export function isElsewhere({ env }: IResource, stack: Stack): boolean {
  return [
    [known(env.account), known(stack.account)],
    [known(env.region), known(stack.region)],
  ].some(([its, here]) => its !== undefined && here !== undefined && its !== here)
}

/** Longest usual address that is known only at deployment: a queue's URL with an 80-character name. Bytes. */
const ADDRESS_BYTES = 140
/** The longest that parts of an address can be. Bytes. */
const PART_BYTES: Readonly<Record<string, number>> = {
  'AWS::AccountId': 12,
  'AWS::Partition': 16,
  'AWS::Region': 16,
  'AWS::URLSuffix': 24,
}

/** Size of a resolved value of the environment, with an estimate for each part that is known only at deployment. */
export function estimatedBytes(resolved: unknown): number {
  if (typeof resolved === 'string') return Buffer.byteLength(resolved)
  const { Ref: name = '', 'Fn::Join': join } = (resolved ?? {}) as {
    readonly Ref?: string
    readonly 'Fn::Join'?: readonly [string, readonly unknown[]]
  }
  if (join === undefined) return PART_BYTES[name] ?? ADDRESS_BYTES
  return join[1].reduce((sum: number, part) => sum + estimatedBytes(part), 0)
}
