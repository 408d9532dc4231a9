import { type Handler, on } from '../../../src/consumer/handler.ts'
import type { HandlerContext } from '../../../src/consumer/handler-context.ts'
import { isOutboxError } from '../../../src/errors.ts'
import type { Event } from '../../../src/event/event.ts'
import { COMMITTING, MAX_ATTEMPTS, TYPES } from '../topology.ts'
import type { EventData } from '../workload/event-data.ts'
import { isPassing, meetTrouble, troubleOf } from './act.ts'
import { commitEffect } from './commit-effect.ts'
import type { Station } from './station.ts'

const OPTIONS = { maxAttempts: MAX_ATTEMPTS, backoff: { firstSeconds: 5, capSeconds: 20 } }

/** The handlers of one consumer, one for each type that they take. */
export function handlersOf(station: Station, consumer: string): Handler[] {
  return Object.entries(TYPES).flatMap(([type, { handlers }]) =>
    handlers
      .filter((handler) => handler.startsWith(`${consumer}/`))
      .map((handler) =>
        on(
          type,
          handler.slice(consumer.length + 1),
          (event, ctx) => run(station, { handler, event: event as Event<EventData>, ctx }),
          OPTIONS,
        ),
      ),
  )
}

type Call = { readonly handler: string; readonly event: Event<EventData>; readonly ctx: HandlerContext }

/** Writes down that the handler was called, and how it ended. */
async function run(station: Station, call: Call): Promise<void> {
  const { handler, event, ctx } = call
  const { journal, trueClock, assignment } = station
  const line = { id: event.id, handler, process: assignment.name }
  const end = (how: 'returned' | 'failed' | 'permanent' | 'passed') =>
    journal({ kind: 'end', ...line, how, at: trueClock.now() })
  journal({ kind: 'start', ...line, attempt: ctx.attempt, at: trueClock.now() })
  try {
    await handle(station, call)
    end('returned')
  } catch (error) {
    end(isOutboxError(error, 'PERMANENT') ? 'permanent' : isPassing(error) ? 'passed' : 'failed')
    throw error
  }
}

async function handle(station: Station, { handler, event, ctx }: Call): Promise<void> {
  const trouble = troubleOf(event, handler)
  await meetTrouble(station, trouble, ctx)
  const work = COMMITTING.has(handler)
    ? commitEffect(ctx, { table: station.assignment.effectsTable, handler, event, process: station.assignment.name })
    : actOutside(station, { handler, event, ctx })
  if (trouble?.kind === 'swallows') return work.catch(() => {})
  await work
  // Only a commit makes up for it: an effect outside would be repeated.
  if (trouble?.kind === 'throws-after' && COMMITTING.has(handler)) throw new Error('throws after its commit')
}

async function actOutside({ journal, trueClock, assignment }: Station, { handler, event, ctx }: Call): Promise<void> {
  const { id, source, group, sequence } = event
  const place = group === undefined || sequence === undefined ? {} : { group: `${source}/${group}`, sequence }
  journal({
    kind: 'effect',
    id,
    handler,
    key: ctx.idempotencyKey,
    ...place,
    process: assignment.name,
    at: trueClock.now(),
  })
}
