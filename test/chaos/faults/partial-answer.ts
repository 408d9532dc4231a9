import type { EngineAnswer } from './forward.ts'
import type { Json } from './request.ts'

/**
 * A request of which only a part is applied, or answered. `forwarded` goes to the engine in its place (undefined:
 * nothing does), and `merge` makes the whole answer from the engine's.
 */
export type PartialAnswer = {
  /** The kind of fault, for the coverage. */
  readonly kind: string
  readonly forwarded?: Json
  readonly merge: (answer: Json) => Json
}

export type Refusal = { readonly kind: string; readonly refused: EngineAnswer }
