import type { EngineAnswer } from './forward.ts'
import type { LayerRequest } from './request.ts'

/** Answers to queries of an index, to be given again: an index follows its table with a delay. */
export type StaleIndex = {
  readonly note: (request: LayerRequest, answer: EngineAnswer, now: number) => void
  /** What the same query was answered a while ago. Undefined if nothing is known, or it is too old. */
  readonly earlier: (request: LayerRequest, now: number) => EngineAnswer | undefined
}

/** Usually an index lags by less than a second; under throttling by minutes. ms of the rig's clock. */
const OLDEST_MS = 90_000
const KEPT = 500

export function createStaleIndex(): StaleIndex {
  const answers = new Map<string, { readonly at: number; readonly answer: EngineAnswer }>()
  return {
    note: ({ body }, answer, now) => {
      const query = body.toString()
      answers.delete(query)
      answers.set(query, { at: now, answer })
      const [oldest] = answers.keys()
      if (answers.size > KEPT && oldest !== undefined) answers.delete(oldest)
    },
    earlier: ({ body }, now) => {
      const known = answers.get(body.toString())
      return known === undefined || now - known.at > OLDEST_MS ? undefined : known.answer
    },
  }
}
