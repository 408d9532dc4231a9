import { OutboxError } from '../errors.ts'
import { invalidSetting } from '../settings.ts'
import { listDeadLetters } from './dead-letters.ts'
import { listRows } from './list-rows.ts'
import { checkSystem, type OutboxSystem } from './system.ts'

const WHOLE = /^[0-9a-f]{64}$/
const BEGINNING = /^[0-9a-f]{6,63}$/
const PENDING_LOOKED_AT = 10_000
const NAMED = 5

/**
 * Whole ids for what a person has typed: an id itself, or at least its first 6 characters, as far as it is dead or pending.
 * Whatever is no beginning of an id is taken as an id of somebody else's. Throws `INVALID_SETTING` for a beginning that no
 * event has, or more than one, and errors of the AWS SDK as they are.
 */
export async function resolveIds(system: OutboxSystem, typed: readonly string[]): Promise<readonly string[]> {
  checkSystem('resolveIds', system)
  if (!Array.isArray(typed) || !typed.every((text) => typeof text === 'string' && text !== ''))
    throw invalidSetting('resolveIds', 'must be a list of event ids, or of their beginnings')
  if (!typed.some((text) => BEGINNING.test(text))) return typed
  const { items } = await listDeadLetters(system)
  const dead = items.map(({ id }) => id)
  let known: ReadonlySet<string> = new Set(dead)
  if (typed.some((text) => BEGINNING.test(text) && !dead.some((id) => id.startsWith(text)))) {
    const { rows } = await listRows(system, { state: 'pending', limit: PENDING_LOOKED_AT })
    known = new Set([...dead, ...rows.map(({ id }) => id)])
  }
  return typed.map((text) => (WHOLE.test(text) || !BEGINNING.test(text) ? text : only(text, known)))
}

function only(text: string, known: ReadonlySet<string>): string {
  const fitting = [...known].filter((id) => id.startsWith(text))
  const [id] = fitting
  if (id !== undefined && fitting.length === 1) return id
  throw new OutboxError(
    'INVALID_SETTING',
    fitting.length === 0
      ? 'No dead or pending event has an id that begins so. Give the whole id, or the source and key of the event.'
      : `${fitting.length} events have an id that begins so: ${fitting
          .slice(0, NAMED)
          .map((one) => one.slice(0, 16))
          .join(', ')}${fitting.length > NAMED ? ', …' : ''}. Give more characters.`,
  )
}
