import { setTimeout as delay } from 'node:timers/promises'
import type { Kill } from './audit/takeovers.ts'
import { whole } from './draw.ts'
import type { FaultLayer } from './faults/fault-layer.ts'
import type { KillReport } from './faults/kills.ts'
import type { Crew } from './processes/crew.ts'
import { FUNCTION_MS, ROLES, type Role } from './topology.ts'

/** From one kill of a role to the next order, ms of real time: each costs the start of a process. */
const EVERY_MS: Readonly<Record<Role, number>> = {
  writer: 2800,
  relay: 2500,
  sweeper: 3500,
  'consumer-main': 1800,
  'consumer-side': 3000,
  'consumer-plain': 5000,
  operator: 5000,
}
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

export type Killing = {
  readonly kills: readonly Kill[]
  readonly freezes: () => number
}

/** Kills and freezes processes of every role, one order for each at a time, until the signal aborts. */
export function startKilling(options: KillingOptions): Killing {
  const { layer, crew, random, inHand, signal } = options
  const kills: Kill[] = []
  let freezes = 0

  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  const note = ({ process, at, freezeMs }: KillReport): void => {
    if (freezeMs === undefined) kills.push({ process, at, inHand: inHand(process) })
    else {
      freezes += 1
      crew.noteFrozen(process, freezeMs)
    }
  }
  const strike = async (role: Role): Promise<void> => {
    while (!signal.aborted) {
      await delay(EVERY_MS[role] * (0.5 + random()), undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      const freeze = random() < FREEZES ? { freezeMs: whole(random, FUNCTION_MS / 2, FUNCTION_MS * 2) } : {}
      const report = await Promise.race([layer.armKill({ role, ...freeze }), aborted])
      if (report !== undefined) note(report)
    }
  }
  for (const role of ROLES) void strike(role)
  return { kills, freezes: () => freezes }
}
