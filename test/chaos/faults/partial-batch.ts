import { pick, type Random } from './chance.ts'
import type { PartialAnswer } from './partial-answer.ts'
import type { Json } from './request.ts'

type Entry = { readonly Id: string }

/**
 * What becomes of one entry of a batch that SQS answers with 200:
 * `kept`: as the engine says; `failed`: not applied, in `Failed`, retryable; `failedApplied`: the same, and applied after
 * all, as any answer with a 5xx in it may have been; `missing`: not applied, and in neither list; `missingApplied`:
 * applied, and in neither list.
 */
type Fate = 'kept' | 'failed' | 'failedApplied' | 'missing' | 'missingApplied'

/** SQS's own codes of an entry that may be sent again. */
const CODES = ['ServiceUnavailable', 'InternalError', 'RequestThrottled'] as const

/** At least one entry does not fare as the others. Groups and order stay as they were. */
export function partialBatch(operation: string, input: Json, random: Random): PartialAnswer {
  const entries = (input['Entries'] ?? []) as readonly Entry[]
  const victim = Math.floor(random() * entries.length)
  const fates = new Map(
    entries.map(({ Id }, n) => [Id, n === victim || random() < 0.3 ? badFate(random) : ('kept' as Fate)]),
  )
  const applied = entries.filter(({ Id }) => fates.get(Id) !== 'failed' && fates.get(Id) !== 'missing')
  const failures = entries.flatMap(({ Id }) => {
    const fate = fates.get(Id)
    return fate === 'failed' || fate === 'failedApplied' ? [failedEntry(Id, random)] : []
  })
  const kept = (list: unknown): Entry[] =>
    ((list ?? []) as readonly Entry[]).filter(({ Id }) => fates.get(Id) === 'kept')
  return {
    kind: `partial ${operation}`,
    ...(applied.length === 0 ? {} : { forwarded: { ...input, Entries: applied } }),
    merge: ({ Successful, Failed, ...rest }) => ({
      ...rest,
      Successful: kept(Successful),
      Failed: [...kept(Failed), ...failures],
    }),
  }
}

function badFate(random: Random): Fate {
  return pick(random, ['failed', 'failed', 'failedApplied', 'missing', 'missingApplied'])
}

function failedEntry(Id: string, random: Random) {
  return { Id, Code: pick(random, CODES), Message: 'An injected fault.', SenderFault: false }
}
