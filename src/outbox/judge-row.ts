import { sameJson } from '../event/canonical.ts'
import { jsonValue } from '../event/json-data.ts'
import { plainItem } from './attribute-form.ts'

/**
 * What stands at the key of an event of ours. `own`: this very call has written it, so its transaction was applied.
 * `equal` and `different`: another call's, by type and data.
 */
export type Standing = 'absent' | 'own' | 'equal' | 'different'

/** The event as this call would store it. */
export type Wanted = { readonly instance: string; readonly type: string; readonly dataText: string }

/** Judges a stored item, in either form. A row that cannot be understood is different. */
export function judgeRow(stored: Readonly<Record<string, unknown>> | undefined, wanted: Wanted): Standing {
  if (stored === undefined) return 'absent'
  const { instance, type, body } = plainItem(stored)
  if (instance === wanted.instance) return 'own'
  if (type !== wanted.type || typeof body !== 'string') return 'different'
  return sameJson(dataOf(body), jsonValue(wanted.dataText)) ? 'equal' : 'different'
}

/** Undefined, which no JSON value equals, for a body that is none of ours. */
function dataOf(body: string): unknown {
  try {
    const parsed: unknown = JSON.parse(body)
    return typeof parsed === 'object' && parsed !== null ? (parsed as { data?: unknown }).data : undefined
  } catch {
    return undefined
  }
}
