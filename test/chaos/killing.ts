import type { Kill } from './audit/takeovers.ts'
import { pick, whole } from './draw.ts'
import type { FaultLayer } from './faults/fault-layer.ts'
import type { KillReport } from './faults/kills.ts'
import type { Crew } from './processes/crew.ts'
import { FUNCTION_MS, type Role } from './topology.ts'

/**
 * One kill for so many requests of all processes together: each costs the start of a process, which a slow machine must
 * not be kept busy with.
 */
const REQUESTS_PER_KILL = 170
const LOOK_MS = 50
/** How the kills are shared out. */
const SHARES: readonly (readonly [Role, number])[] = [
  ['writer', 4],
  ['relay', 4],
  ['sweeper', 3],
  ['consumer-main', 5],
  ['consumer-side', 3],
  ['consumer-plain', 2],
  ['operator', 2],
]
/** Share of the orders that freeze a process instead. */
const FREEZES = 0.12

export type KillingOptions = {
  readonly layer: FaultLayer
  readonly crew: Crew
  readonly random: () => number
  /** Events that a process of a function has in hand. */
  readonly inHand: (process: string) => readonly string[]
  readonly signal: AbortSignal
}

export type Killing = { readonly kills: readonly Kill[]; readonly freezes: () => number }

/** Kills and freezes processes of every role, at most one order for each at a time, until the signal aborts. */
export function startKilling({ layer, crew, random, inHand, signal }: KillingOptions): Killing {
  const kills: Kill[] = []
  const armed = new Set<Role>()
  let freezes = 0
  const before = layer.coverage().requests

  const note = ({ process, at, freezeMs }: KillReport): void => {
    if (freezeMs === undefined) kills.push({ process, at, inHand: inHand(process) })
    else {
      freezes += 1
      crew.noteFrozen(process, freezeMs)
    }
  }
  const strike = async (role: Role): Promise<void> => {
    armed.add(role)
    const freeze = random() < FREEZES ? { freezeMs: whole(random, FUNCTION_MS / 2, FUNCTION_MS * 2) } : {}
    const report = await layer.armKill({ role, ...freeze })
    if (report !== undefined) note(report)
    armed.delete(role)
  }
  const look = (): void => {
    const free = SHARES.filter(([role]) => !armed.has(role))
    if (free.length > 0 && kills.length + freezes < (layer.coverage().requests - before) / REQUESTS_PER_KILL)
      void strike(pick(random, free))
  }
  const looking = setInterval(look, LOOK_MS)
  signal.addEventListener('abort', () => clearInterval(looking), { once: true })
  return { kills, freezes: () => freezes }
}
