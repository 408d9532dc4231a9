import { setTimeout as delay } from 'node:timers/promises'

const LOOK_MS = 250

export type Patience = {
  /** Default 120. */
  readonly seconds?: number
}

/**
 * Looks until `look` finds something (neither false nor undefined) and answers with it. Throws after the time given, with
 * `what` it was waiting for and the last error of a look.
 */
export async function eventually<Found>(
  what: string,
  look: () => Promise<Found | false | undefined>,
  { seconds = 120 }: Patience = {},
): Promise<Found> {
  const end = performance.now() + seconds * 1000
  let failure: unknown
  for (;;) {
    try {
      const found = await look()
      if (found !== false && found !== undefined) return found
      failure = undefined
    } catch (error) {
      failure = error
    }
    if (performance.now() > end) throw new Error(`waited ${seconds} s for ${what}, in vain`, { cause: failure })
    await delay(LOOK_MS)
  }
}
