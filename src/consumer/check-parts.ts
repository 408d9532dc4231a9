import { checkShortName } from '../checks.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Committer } from '../outbox/commit.ts'
import { invalidSetting } from '../settings.ts'
import type { Handler } from './handler.ts'

/** What a consumer is made of, wherever its events come from. */
export type Parts = {
  readonly name: string
  readonly ledger: Ledger
  readonly outbox?: Committer
  readonly handlers: readonly Handler[]
  readonly ignore?: readonly string[]
}

/** Refuses what would go wrong at the first event. */
export function checkParts({ name, ledger, outbox, handlers, ignore }: Parts): void {
  checkShortName('name', name)
  if (typeof ledger?.claim !== 'function') throw invalidSetting('ledger', 'must be made by createLedger')
  if (!Array.isArray(handlers) || handlers.length === 0)
    throw invalidSetting('handlers', 'must hold at least one handler, as an array')
  const alien = handlers.findIndex((handler) => typeof handler?.run !== 'function')
  if (alien !== -1) throw invalidSetting(`handlers[${alien}]`, 'must be made by on')
  if (ignore !== undefined && !Array.isArray(ignore)) throw invalidSetting('ignore', 'must be an array of types')
  const names = handlers.map(({ type, name: handler }) => `${handler} ${type}`)
  const twice = names.findIndex((text, n) => names.indexOf(text) !== n)
  if (twice !== -1) throw invalidSetting(`handlers[${twice}]`, 'has the name and the type of an earlier one; rename it')
  if (outbox !== undefined && outbox.kind !== ledger.kind) {
    throw invalidSetting(
      'outbox',
      `must use the kind of client that the ledger has: got ${outbox.kind} and ${ledger.kind}`,
    )
  }
}
