/** When in the life of a request its process was killed. */
export type KillMoment = 'before' | 'applied' | 'answered'

export type KillPoint = {
  readonly role: string
  readonly operation: string
  readonly moment: KillMoment
  readonly kills: number
}

export type Coverage = {
  readonly requests: number
  /** How often each kind of fault struck. */
  readonly faults: Readonly<Record<string, number>>
  /** Every point at which a process could have been killed, and how often it was. */
  readonly killPoints: readonly KillPoint[]
}
