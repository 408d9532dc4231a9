import type { KillMoment } from './coverage.ts'

export type KillOrder = {
  readonly role: string
  /** Default SIGKILL. */
  readonly signal?: 'SIGKILL' | 'SIGSTOP'
}

/** What was done to whom, and at which request. */
export type KillReport = {
  readonly process: string
  readonly pid: number
  readonly role: string
  readonly operation: string
  readonly moment: KillMoment
  readonly signal: 'SIGKILL' | 'SIGSTOP'
  /** ms of the rig's clock. */
  readonly at: number
}
