import { eventId } from '../../../src/event/identity.ts'
import { decodeLifeNote } from '../../../src/event/life.ts'
import { fromItem } from '../../../src/ledger/statements.ts'
import { DUE_HORIZON_MS, identityOf, isOrderedKey, rowState } from '../../../src/outbox/row.ts'
import { type ItemChange, keyOf } from '../model/engine/table.ts'
import type { Item } from '../model/engine/values.ts'
import { REGION } from '../stage/stage.ts'
import { HANDLERS, MAX_ATTEMPTS, type World, workerIdOf } from './world.ts'

/** What is sure of each row, when that was, and in which round it is. */
type Sure = { readonly item: Item; readonly committed: number; readonly displaced: boolean }
type Changed = Required<ItemChange> & { readonly before: Item; readonly after: Item }

/** The state machine of a row of pull workers, told of each change as it is made. */
export function watchRows(world: World): void {
  const rows = new Map<string, Sure>()
  world.outbox.onChange((change) => {
    const { before, after, at, by } = change
    if (after === undefined) return
    const key = keyOf(after)
    const { committed = at, displaced = false } = rows.get(key) ?? {}
    const isBack = rowState(before?.shard?.S) === 'dead'
    const sure = { item: after, committed, displaced: displaced || (before !== undefined && isBack) }
    if (before !== undefined) {
      const fault = faultOfChange({ ...change, before, after } as Changed, { world, rows })
      if (fault !== undefined) world.breach(`${nameOf(world, after)}, by ${by?.name}: ${fault}`)
    }
    rows.set(key, sure)
    // A later life of the handlers that had given up: they are to run anew.
    const again = isBack ? (decodeLifeNote(after.note?.S ?? '')?.handlers ?? []) : []
    for (const name of again) world.spent.delete(`${idOf(after)} ${name}`)
    if (by !== undefined && isClaim(before, after)) world.taken.get(by)?.set(key, after.token?.S ?? '')
  })
}

function isClaim(before: Item | undefined, after: Item): boolean {
  return after.token !== undefined && after.token.S !== before?.token?.S
}

type Seen = { readonly world: World; readonly rows: ReadonlyMap<string, Sure> }

function faultOfChange(change: Changed, seen: Seen): string | undefined {
  const { before, after, by } = change
  const from = rowState(before.shard?.S)
  const to = rowState(after.shard?.S)
  if (before.region?.S !== REGION || Number(before.v?.N) > 1) return 'it is not theirs, and was changed'
  if (to !== 'relayed' && after.expires !== undefined) return `${to}, and expires`
  if (to === 'pending') return 'went to the relay'
  if (from === 'dead') return faultOfRedrive(change)
  if (from === 'relayed') return 'changed after its end'
  const isMine = before.token?.S?.split(' ')[0] === (by && workerIdOf(by))
  if (isClaim(before, after)) return faultOfClaim(change, seen)
  if (to === 'dead') return faultOfBurial(change, seen, isMine)
  if (!isMine) return 'answered by one whose it is not'
  if (to === 'relayed') return undefined
  if (after.token !== undefined)
    return claimsOf(after) === claimsOf(before) && dueOf(after) >= dueOf(before) ? undefined : 'renewed amiss'
  const act = seen.world.acting.get(keyOf(after))
  const spent = act === 'fail' ? 0 : 1
  return claimsOf(before) - claimsOf(after) === spent
    ? undefined
    : `given back (${act ?? 'deferred'}), claims miscounted`
}

function faultOfClaim({ before, after, at }: Changed, { world, rows }: Seen): string | undefined {
  if (isAhead(dueOf(before), at)) return 'claimed before it was due, or held'
  if (claimsOf(after) !== claimsOf(before) + 1) return 'claims miscounted'
  if (claimsOf(after) > world.maxClaims) return 'claimed once more than allowed'
  const lease = dueOf(after) - at
  if (lease > world.plan.leaseSeconds * 1000) return 'leased for too long'
  return faultOfOrder(after, { world, rows })
}

/** Of a group only the head: all that was committed before it or with it is relayed or dead, or was redriven. */
function faultOfOrder(row: Item, { world, rows }: Seen): string | undefined {
  const mine = rows.get(keyOf(row))
  if (!isOrderedKey({ pk: row.pk?.S ?? '', sk: row.sk?.S ?? '' }) || mine === undefined || mine.displaced)
    return undefined
  for (const { item, committed, displaced } of rows.values()) {
    const isEarlier = item.pk?.S === row.pk?.S && (item.sk?.S ?? '') < (row.sk?.S ?? '') && committed <= mine.committed
    if (isEarlier && !displaced && rowState(item.shard?.S) === 'pull') return `before ${nameOf(world, item)}`
  }
  return undefined
}

function faultOfBurial({ before, after, at }: Changed, seen: Seen, isMine: boolean): string | undefined {
  if (after.token !== undefined || after.failure === undefined) return 'dead without a reason, or still held'
  if (claimsOf(after) !== claimsOf(before)) return 'dead, claims miscounted'
  const isHeld = isAhead(dueOf(before), at)
  const areSpent = !isHeld && claimsOf(before) >= seen.world.maxClaims
  // Whoever finds it with its claims spent gives it up, also the one whose last claim has lapsed.
  if (isMine && !areSpent) return seen.world.plan.kind === 'handlers' ? faultOfEnd(after, seen.world) : undefined
  if (isHeld) return 'dead while somebody holds it'
  const isMalformed = after.failure.S?.startsWith('malformed') ?? false
  if (!areSpent && !isMalformed) return 'dead before its claims were spent'
  return faultOfOrder(after, seen)
}

/** A worker gives a row up once none of its handlers is to run again, and one of them has spent its attempts. */
function faultOfEnd(row: Item, { ledger, spent }: World): string | undefined {
  const id = idOf(row)
  for (const name of HANDLERS) {
    const item = ledger.slot(`${id}\0${name}`).item
    const entry = item === undefined ? undefined : fromItem(item)
    const attempts = (entry?.attempts ?? 0) + (entry?.status === 'alone' ? 1 : 0)
    const isEnded = entry?.status === 'done' || entry?.status === 'dead' || attempts >= MAX_ATTEMPTS
    if (!isEnded) return `dead while ${name} is to run again`
    if (attempts > (spent.get(`${id} ${name}`) ?? 0)) return `dead, and ${name} has not run its attempts`
  }
  return undefined
}

function faultOfRedrive({ before, after, by }: Changed): string | undefined {
  if (by?.role !== 'operator') return 'brought back by no operator'
  if (rowState(after.shard?.S) !== 'pull') return 'did not go back to its workers'
  const round = Number(after.redrives?.N) - Number(before.redrives?.N ?? 0)
  return round === 1 && claimsOf(after) === 0 && after.token === undefined ? undefined : 'brought back amiss'
}

/** A `due` that lies days ahead counts as over. */
function isAhead(due: number, now: number): boolean {
  return due > now && due <= now + DUE_HORIZON_MS
}

function claimsOf({ claims }: Item): number {
  return Number(claims?.N ?? 0)
}

function dueOf({ due }: Item): number {
  return Number(due?.N ?? 0)
}

export function idOf({ pk, sk }: Item): string {
  const identity = identityOf({ pk: pk?.S ?? '', sk: sk?.S ?? '' })
  return identity === undefined ? '' : eventId(identity)
}

function nameOf({ story }: World, row: Item): string {
  return story.nameOf(idOf(row))
}
