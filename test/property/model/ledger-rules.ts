import type { Entry } from '../../../src/ledger/entry.ts'
import { fromItem } from '../../../src/ledger/statements.ts'
import { type Books, count, lifeKey } from './books.ts'
import type { Table } from './engine/table.ts'
import { MAX_ATTEMPTS } from './plan.ts'

const KEEP_SECONDS = { min: 86_400 * 29.9, max: 86_400 * 30.1 }

export type LedgerRules = {
  /** Longest that two clocks may disagree, ms. */
  readonly skew: number
  readonly nameOf: (id: string) => string
}

/**
 * The state machine of a ledger's row, told of each change as it is made; drawn in `decide-claim.ts`. What may be decided
 * from a clock allows for the clocks' differences.
 */
export function watchLedger(table: Table, books: Books, { skew, nameOf }: LedgerRules): void {
  table.onChange(({ before: old, after: now, at, by }) => {
    if (now === undefined) return
    const before = old === undefined ? undefined : fromItem(old)
    const after = fromItem(now)
    if (after === undefined) return books.breach('a row of the ledger that cannot be read')
    const wrong = (text: string): void =>
      books.breach(`ledger ${nameOf(after.id)} ${after.name}: ${text} (${stateOf(before)} → ${stateOf(after)})`)
    const isClaim = after.token !== before?.token
    const fault = isClaim ? faultOfClaim(before, after, at, skew) : faultOfEnd(before, after)
    if (!isClaim && after.status !== 'dead' && by?.owns(after.token) !== true)
      wrong(`written by ${by?.name}, whose it is not`)
    if (fault !== undefined) wrong(fault)
    if (isClaim) {
      count(books.claims, lifeKey(after))
      // On its way as its process ended: nobody can tell that its handler never ran.
      if (after.status === 'alone' && by !== undefined && (!by.isAlive() || by.isFrozen()))
        count(books.spent, lifeKey(after))
      const seconds = after.expires - at / 1000
      if (!(seconds > KEEP_SECONDS.min && seconds < KEEP_SECONDS.max)) wrong(`expires in ${seconds} s`)
    }
    if (after.status === 'dead') books.displaced.add(`${after.id} ${after.name}`)
    const spent = books.spent.get(lifeKey(after)) ?? 0
    if (skew === 0 && Math.min(after.attempts, MAX_ATTEMPTS) > spent)
      wrong(`${after.attempts} attempts, ${spent} runs failed`)
    if (after.attempts > Math.max(MAX_ATTEMPTS, books.claims.get(lifeKey(after)) ?? 0)) wrong('more attempts than runs')
  })
}

function faultOfClaim(before: Entry | undefined, after: Entry, at: number, skew: number): string | undefined {
  const lapsed = (time: number): boolean => time <= at + skew
  const isAnew = after.status === 'running' && after.attempts === 0
  if (before === undefined || before.expires * 1000 <= at - skew) return isAnew ? undefined : 'not begun anew'
  const later = after.life > before.life
  if (after.life < before.life) return 'an older life'
  switch (before.status) {
    case 'done':
    case 'dead':
      return later && isAnew ? undefined : `${before.status} in this life, and claimed`
    case 'failed':
      if (later && isAnew) return undefined
      if (before.attempts >= MAX_ATTEMPTS) return 'at its limit, and claimed'
      if (!lapsed(before.due)) return 'claimed before it was due'
      return after.status === 'running' && after.attempts === before.attempts
        ? undefined
        : 'attempts changed by a claim'
    case 'running':
    case 'alone': {
      if (!lapsed(before.lease)) return 'claimed under a live lease'
      if (after.status !== 'alone') return 'a lapsed claim was taken over beside others'
      const crashes = before.status === 'alone' ? 1 : 0
      return after.attempts === before.attempts + crashes ? undefined : 'attempts miscounted'
    }
  }
}

/** A write of the claim's owner, or the mark of a dead letter. */
function faultOfEnd(before: Entry | undefined, after: Entry): string | undefined {
  const from = before?.status
  const more = after.attempts - (before?.attempts ?? 0)
  if (after.status === 'dead') {
    const own = from === 'alone' ? 1 : 0
    if (from !== 'failed' && from !== 'alone') return 'dead without having failed'
    return (before?.attempts ?? 0) + own >= MAX_ATTEMPTS ? undefined : 'dead before its attempts were spent'
  }
  if (from !== 'running' && from !== 'alone') return 'written after its end'
  if (after.status === 'done') return more === 0 ? undefined : 'done, and attempts changed'
  if (after.status !== 'failed') return 'changed in mid-run'
  return more === 0 || more === 1 || after.attempts === MAX_ATTEMPTS ? undefined : 'attempts miscounted'
}

function stateOf(entry: Entry | undefined): string {
  return entry === undefined ? 'absent' : `${entry.status} ${entry.attempts}/${MAX_ATTEMPTS} life ${entry.life % 1e7}`
}
