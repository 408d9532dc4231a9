import type { Backoff } from '../backoff.ts'
import { checkBackoff, checkShortName } from '../checks.ts'
import { permanentError } from '../errors.ts'
import { validateData } from '../event/define-event.ts'
import type { Event } from '../event/event.ts'
import { checkName } from '../event/grammar.ts'
import type { StandardSchema } from '../event/standard-schema.ts'
import { checkOptions, inRange, invalidSetting, RANGES } from '../settings.ts'
import type { HandlerContext } from './handler-context.ts'

/** One handler of a consumer, made by {@link on}. */
export type Handler = {
  readonly type: string
  /** Permanent: renaming a handler makes every event new to it. */
  readonly name: string
  readonly maxAttempts: number
  readonly backoff: Backoff
  /** Validates the data, then runs the handler's function. */
  readonly run: (event: Event, context: HandlerContext) => Promise<void>
}

export type HandlerOptions = {
  /** Failures, and crashes while alone, before the event is dead-lettered. 1–100, default 8. */
  readonly maxAttempts?: number
  /** Delays between tries, seconds. 0–86400 each; default 5, doubling, up to 300. */
  readonly backoff?: Partial<Backoff>
}

/** Handles one event. Throwing spends an attempt; `permanentError` spends them all. What it returns is not looked at. */
export type HandleFunction<Data, Type extends string = string> = (
  event: Event<Data, Type>,
  context: HandlerContext,
) => Promise<unknown> | unknown

/** A definition by `defineEvent`, or the bare name of a type, whose data is then unknown. */
export type HandledType<Output, Type extends string> =
  | { readonly type: Type; readonly schema: StandardSchema<unknown, Output> }
  | Type

/**
 * Registers a function for a type of event, under a name that is unique for that type. With a definition, the data is
 * validated first and has its schema's output type; a failure there is permanent and names paths, never values.
 */
export function on<Output, Type extends string>(
  event: HandledType<Output, Type>,
  name: string,
  ...[handle, options = {}]: readonly [handle: HandleFunction<Output, Type>, options?: HandlerOptions]
): Handler {
  const type = (typeof event === 'string' ? event : event?.type) as Type
  checkName('type', type)
  checkShortName('handler name', name)
  if (typeof handle !== 'function') throw invalidSetting('handle', 'must be a function')
  checkOptions(`on("${name}")`, options, ['maxAttempts', 'backoff'])
  return {
    type,
    name,
    maxAttempts: inRange('maxAttempts', options.maxAttempts, RANGES.maxAttempts),
    backoff: checkBackoff(options.backoff),
    run: async (given, context) => {
      const data = typeof event === 'string' ? given.data : await validated(event, given.data)
      await handle({ ...given, data: data as Output, type }, context)
    },
  }
}

async function validated<Output>(
  definition: { readonly schema: StandardSchema<unknown, Output> },
  data: unknown,
): Promise<Output> {
  const validation = await validateData(definition, data)
  if (validation.ok) return validation.value
  throw permanentError(`the data does not fit the schema at ${validation.paths.join(', ')}`)
}
