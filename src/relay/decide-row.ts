/** What a destination made of a row, if it was asked. */
export type Answer =
  | { readonly status: 'accepted' }
  | { readonly status: 'refused'; readonly reason: string }
  | { readonly status: 'failed' | 'unsent' }

export type RowDecision =
  /** Every destination has it: mark it relayed. */
  | { readonly kind: 'relay' }
  /** One will never take it and all others have it: dead-letter it with the reason and those that took it now. */
  | { readonly kind: 'dead'; readonly reason: string; readonly accepted: readonly string[] }
  /** It stays pending; these took it now and must not get it again. */
  | { readonly kind: 'keep'; readonly accepted: readonly string[] }

/**
 * What becomes of a row. `inTurn` is false while an earlier row of its group is pending: then it stays pending itself
 * whatever the answers are, because a relayed or dead row means that nothing before it is missing.
 */
export function decideRow(row: {
  readonly destinations: readonly string[]
  /** Those that have it from an earlier run. */
  readonly accepted: ReadonlySet<string>
  /** By destination, of this run. */
  readonly answers: ReadonlyMap<string, Answer>
  readonly inTurn: boolean
}): RowDecision {
  const took = row.destinations.filter((name) => row.answers.get(name)?.status === 'accepted')
  const missing = row.destinations.filter((name) => !row.accepted.has(name) && !took.includes(name))
  const refusals = missing.map((name) => row.answers.get(name)).filter((answer) => answer?.status === 'refused')
  if (!row.inTurn || refusals.length < missing.length) return { kind: 'keep', accepted: took }
  const [first] = refusals
  return first === undefined ? { kind: 'relay' } : { kind: 'dead', reason: first.reason, accepted: took }
}
