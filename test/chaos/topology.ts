/** What runs in the rig: queues, types and who handles them. Shared by the processes and the audit. */

export const QUEUES = ['main', 'side', 'plain'] as const
export type QueueName = (typeof QUEUES)[number]

export type HandlerName = 'main/apply' | 'main/notify' | 'side/mirror' | 'side/echo' | 'plain/record' | 'plain/ring'

export type TypeRule = {
  /** Destinations of the type's rows. */
  readonly to: readonly QueueName[]
  /** Who must have handled each such event in the end. */
  readonly handlers: readonly HandlerName[]
}

/** `step` to `aside` stand in ordered groups, several types in one; `note`, `bell` and `follow` are unordered. */
export const TYPES = {
  step: { to: ['main'], handlers: ['main/apply'] },
  pair: { to: ['main'], handlers: ['main/apply', 'main/notify'] },
  ping: { to: ['main'], handlers: ['main/notify'] },
  both: { to: ['main', 'side'], handlers: ['main/apply', 'side/mirror'] },
  aside: { to: ['side'], handlers: ['side/mirror'] },
  note: { to: ['plain'], handlers: ['plain/record'] },
  bell: { to: ['plain'], handlers: ['plain/ring'] },
  follow: { to: ['side'], handlers: ['side/mirror'] },
  trail: { to: ['side'], handlers: ['side/echo'] },
} as const satisfies Record<string, TypeRule>

export type TypeName = keyof typeof TYPES

export function typeRule(type: string): TypeRule | undefined {
  return Object.hasOwn(TYPES, type) ? TYPES[type as TypeName] : undefined
}

/** Handlers whose effect is written with `ctx.commit`; the others act outside, at least once. */
export const COMMITTING: ReadonlySet<string> = new Set<HandlerName>(['main/apply', 'side/mirror', 'plain/record'])

/** Attempts of every handler before its event is dead-lettered. */
export const MAX_ATTEMPTS = 4

/** What the side queue takes in one message until the operator has mended it, bytes. */
export const SIDE_MAX_BYTES = 1600

/** Of a consumer's or relay's function, ms of the clock. */
export const FUNCTION_MS = 60_000
/** Six times the function's timeout, seconds. */
export const VISIBILITY_SECONDS = 360

export const ROLES = [
  'writer',
  'relay',
  'sweeper',
  'consumer-main',
  'consumer-side',
  'consumer-plain',
  'operator',
] as const
export type Role = (typeof ROLES)[number]
