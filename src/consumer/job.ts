import { type Backoff, DEFAULT_BACKOFF } from '../backoff.ts'
import { permanentError } from '../errors.ts'
import type { Event } from '../event/event.ts'
import type { LifeNote } from '../event/life.ts'
import type { MetricKey } from '../telemetry.ts'
import type { Handler } from './handler.ts'
import type { HandlerContext } from './handler-context.ts'
import type { Message } from './message.ts'

/** One handler to run for one message, with its own row in the ledger. */
export type Job = {
  /** `consumer/handler`, the row's sort key. */
  readonly name: string
  readonly maxAttempts: number
  readonly backoff: Backoff
  readonly run: (context: HandlerContext) => Promise<unknown>
  /** Counted when it fails: something a deploy should mend. */
  readonly metric?: MetricKey
}

/** Stands for "no handler" in row and life note: a redriven one goes to whichever handlers take its type by then. */
const NOBODY = '-'

export type Registry = {
  /** Name of the consumer. */
  readonly consumer: string
  readonly handlers: readonly Handler[]
  /** Types that nobody needs to handle. */
  readonly ignore: ReadonlySet<string>
}

/**
 * Which handlers a message concerns. What nobody can handle (a malformed body, a type without handler, a handler that is
 * no longer registered) is a job that fails for good, so that it takes the same way to the dead-letter queue as any other.
 */
export function planJobs(message: Pick<Message, 'content' | 'note'>, registry: Registry): readonly Job[] {
  const { content, note } = message
  const nobody = `${registry.consumer}/${NOBODY}`
  if (!content.ok) return [refusing(nobody, content.reason)]
  const { event } = content
  const takers = registry.handlers.filter(({ type }) => type === event.type)
  const named = new Set(
    note?.handlers.filter((name) => name !== nobody && isConcerned(note, { name, event, registry })),
  )
  if (note === undefined || note.handlers.includes(nobody))
    for (const taker of takers) named.add(nameOf(taker, registry))
  if (note !== undefined && named.size === 0 && isReplay(note)) return []
  if (named.size > 0) return [...named].map((name) => jobOf(takers, { name, event, registry, shared: named.size > 1 }))
  if (registry.ignore.has(event.type)) return []
  return [refusing(nobody, 'no handler takes this type', 'unhandledType')]
}

/**
 * A replay goes wherever the event went, so what it names may be another consumer's affair. A dead letter has its attempts
 * with it: it goes to one queue, and a name unknown there must not be lost.
 */
function isReplay({ attempts }: LifeNote): boolean {
  return attempts === undefined
}

/** A replay of a whole source passes by a handler that takes other types; one that nobody here has goes the way of a dead letter. */
function isConcerned(note: LifeNote, { name, event, registry }: Omit<Named, 'shared'>): boolean {
  if (!isReplay(note)) return true
  const known = registry.handlers.filter((handler) => nameOf(handler, registry) === name)
  if (known.length > 0) return known.some(({ type }) => type === event.type)
  return name.startsWith(`${registry.consumer}/`)
}

type Named = { readonly name: string; readonly event: Event; readonly registry: Registry; readonly shared: boolean }

function jobOf(takers: readonly Handler[], { name, event, registry, shared }: Named): Job {
  const taker = takers.find((handler) => nameOf(handler, registry) === name)
  if (taker === undefined) return refusing(name, 'no handler of this name takes this type', 'unknownHandler')
  const { maxAttempts, backoff, run } = taker
  // What one handler does to its event is not seen by the next one.
  return { name, maxAttempts, backoff, run: async (context) => run(shared ? structuredClone(event) : event, context) }
}

function nameOf(handler: Handler, { consumer }: Registry): string {
  return `${consumer}/${handler.name}`
}

function refusing(name: string, reason: string, metric?: MetricKey): Job {
  const run = () => Promise.reject(permanentError(reason))
  return { name, maxAttempts: 1, backoff: DEFAULT_BACKOFF, run, ...(metric === undefined ? {} : { metric }) }
}
