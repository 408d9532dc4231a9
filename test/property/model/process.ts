import type { Clock } from '../../../src/clock.ts'
import type { Role } from './faults.ts'
import type { Scheduler } from './scheduler.ts'

/** One process: the code under test runs in it as long as it is alive, on a clock of its own. */
export type Process = {
  readonly role: Role
  readonly name: string
  /** ms */
  readonly born: number
  readonly clock: Clock
  readonly isAlive: () => boolean
  readonly isFrozen: () => boolean
  /** Everything it waits for never comes. */
  readonly kill: (why: string) => void
  /** Nothing reaches it until then, ms. */
  readonly freeze: (until: number) => void
  /** Runs `happen` in it once it can: not if it is dead, later if it stands still. */
  readonly resume: (happen: () => void) => void
  readonly onEnd: (listener: () => void) => void
  /** Whether it has made that id. */
  readonly owns: (id: string) => boolean
}

export type ProcessOptions = {
  readonly scheduler: Scheduler
  readonly role: Role
  readonly name: string
  /** How far its clock is off, ms. */
  readonly skew: number
  readonly random: () => number
  readonly tell: (who: string, text: string) => void
  /** Told before it dies or stands still. */
  readonly stops: (process: Process) => void
}

export function createProcess({ scheduler, role, name, skew, random, tell, stops }: ProcessOptions): Process {
  const listeners: (() => void)[] = []
  let alive = true
  let frozenUntil = 0
  let ids = 0

  const resume = (happen: () => void): void => {
    if (!alive) return
    // As in Node: once it moves again, timers that are due come before answers.
    if (frozenUntil > scheduler.now()) scheduler.at(frozenUntil + 1, () => resume(happen))
    else happen()
  }
  const wake = (happen: () => void): void => {
    if (alive && frozenUntil > scheduler.now()) scheduler.at(frozenUntil, () => wake(happen))
    else if (alive) happen()
  }
  const sleep: Clock['sleep'] = (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const cancel = scheduler.in(Math.max(0, ms), () => wake(resolve))
      signal?.addEventListener('abort', () => {
        cancel()
        reject(signal.reason)
      })
    })
  const own = Buffer.from(name).toString('hex').padStart(24, '0').slice(-24)
  const id = (): string => {
    ids += 1
    return `${own}${String(ids).padStart(8, '0')}`
  }
  const process: Process = {
    role,
    name,
    born: scheduler.now(),
    clock: { now: () => Math.floor(scheduler.now()) + skew, sleep, random, id },
    isAlive: () => alive,
    isFrozen: () => frozenUntil > scheduler.now(),
    resume,
    kill: (why) => {
      if (!alive) return
      stops(process)
      alive = false
      tell(name, `† ${why}`)
      for (const listener of listeners) listener()
    },
    freeze: (until) => {
      stops(process)
      frozenUntil = until
      tell(name, `stands still for ${Math.round((until - scheduler.now()) / 1000)} s`)
    },
    onEnd: (listener) => void listeners.push(listener),
    owns: (given) => given.startsWith(own),
  }
  return process
}
