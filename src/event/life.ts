/**
 * The one message attribute of ours. A replay or a copy in a dead-letter queue carries it: which round of the event this
 * is, which handlers it concerns, and, on a dead letter, why it is one.
 */
export const LIFE_ATTRIBUTE = 'outbox'

export type LifeNote = {
  /** A later round than the one in the body, ms. */
  readonly life: number
  /** `consumer/handler` names: this message concerns only those. Never empty. */
  readonly handlers: readonly string[]
  /** On a dead letter: attempts spent. */
  readonly attempts?: number
  /** On a dead letter: 1–512 bytes without control characters. */
  readonly reason?: string
}

/** JSON text, the value of the `outbox` attribute (DataType `String`). ASCII only: SQS refuses some characters of a reason. */
export function encodeLifeNote(note: LifeNote): string {
  return JSON.stringify(note).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Undefined for text that is no life note (none at all: ''): the message is then read as if it had none. */
export function decodeLifeNote(text: string): LifeNote | undefined {
  // Hardly any message has one: to find that out by an error of the parser would cost more than to read the whole body.
  if (text === '') return undefined
  const { life, handlers, attempts, reason } = membersOf(text)
  // One more must still be a number of its own: it is the life of a copy in the dead-letter queue.
  if (!Number.isSafeInteger(life) || (life as number) < 0 || life === Number.MAX_SAFE_INTEGER) return undefined
  if (!Array.isArray(handlers) || handlers.length === 0 || !handlers.every((name) => typeof name === 'string'))
    return undefined
  return {
    life: life as number,
    handlers: handlers as string[],
    ...(Number.isSafeInteger(attempts) ? { attempts: attempts as number } : {}),
    ...(typeof reason === 'string' ? { reason } : {}),
  }
}

/**
 * Handlers that one note may name: far more than a consumer has for a type. Each one named costs a row in the ledger and,
 * where nobody is registered under it, a copy in the dead-letter queue.
 */
const MAX_NAMED = 100

/** Whether a note names no more handlers than it may, each by a name that is fit to be a sort key of the ledger. */
export function isPossibleNote({ handlers }: LifeNote): boolean {
  return handlers.length <= MAX_NAMED && handlers.every((name) => /^[!-~]{3,129}$/.test(name))
}

/** Of what is no object, or no JSON: none. */
function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
