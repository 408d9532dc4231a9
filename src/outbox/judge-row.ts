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
  return isSameData(body, wanted.dataText) ? 'equal' : 'different'
}

/** False for a body that is none of ours: no JSON object, or nested too deep to be compared. */
function isSameData(body: string, dataText: string): boolean {
  try {
    const { data } = JSON.parse(body) as { readonly data?: unknown }
    return sameJson(data, jsonValue(dataText))
  } catch {
    return false
  }
}
