import { pick, type Random } from './chance.ts'
import type { PartialAnswer } from './partial-answer.ts'
import type { Json } from './request.ts'

/** Codes of a statement that was not applied. */
const NOT_APPLIED = [
  'ThrottlingError',
  'TransactionConflict',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'InternalServerError',
] as const

/** At least one statement of a `BatchExecuteStatement` fails by itself; the others are applied. */
export function partialStatements(input: Json, random: Random): PartialAnswer {
  const count = statementsOf(input).length
  const victim = Math.floor(random() * count)
  const fates = new Map<number, StatementFate>()
  for (let n = 0; n < count; n++) {
    if (n !== victim && random() >= 0.3) continue
    // Only an internal error leaves open whether the statement was applied.
    fates.set(
      n,
      random() < 0.3
        ? { code: 'InternalServerError', applied: true }
        : { code: pick(random, NOT_APPLIED), applied: false },
    )
  }
  return failStatements(input, fates)
}

export type StatementFate = { readonly code: string; readonly applied: boolean }

/** The same for given statements, by their index. */
export function failStatements(input: Json, fates: ReadonlyMap<number, StatementFate>): PartialAnswer {
  const statements = statementsOf(input)
  const forwarded = statements.filter((_, n) => fates.get(n)?.applied !== false)
  return {
    kind: 'partial BatchExecuteStatement',
    ...(forwarded.length === 0 ? {} : { forwarded: { ...input, Statements: forwarded } }),
    merge: ({ Responses, ...rest }) => {
      const answered = [...((Responses ?? []) as readonly unknown[])]
      const all = statements.map((_, n) => {
        const fate = fates.get(n)
        const answer = fate?.applied === false ? undefined : answered.shift()
        return fate === undefined ? answer : { Error: { Code: fate.code, Message: 'An injected fault.' } }
      })
      return { ...rest, Responses: all }
    },
  }
}

export function statementsOf(input: Json): readonly unknown[] {
  return (input['Statements'] ?? []) as readonly unknown[]
}
