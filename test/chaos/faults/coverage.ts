/** When in the life of a request its process was killed or stopped. */
export type KillMoment = 'before' | 'applied' | 'answered'

export const KILL_MOMENTS: readonly [KillMoment, ...KillMoment[]] = ['before', 'applied', 'answered']

export type KillPoint = {
  readonly role: string
  /** A request's label. */
  readonly operation: string
  readonly moment: KillMoment
  readonly kills: number
}

export type Coverage = {
  readonly requests: number
  /** How often each kind of fault struck. */
  readonly faults: Readonly<Record<string, number>>
  /** Every point at which a process could have been killed, and how often it was, stops included. */
  readonly killPoints: readonly KillPoint[]
}

export type Counts = {
  readonly request: (role: string, label: string) => void
  readonly fault: (kind: string) => void
  readonly kill: (point: Omit<KillPoint, 'kills'>) => void
  readonly killsAt: (point: Omit<KillPoint, 'kills'>) => number
  /** The fewest kills of any point of a role: what is left to be covered. */
  readonly fewestKills: (role: string) => number
  readonly coverage: () => Coverage
}

export function createCounts(): Counts {
  const faults = new Map<string, number>()
  const points = new Map<string, KillPoint>()
  let requests = 0
  const nameOf = ({ role, operation, moment }: Omit<KillPoint, 'kills'>): string => `${role}/${operation}/${moment}`

  return {
    request: (role, operation) => {
      requests += 1
      for (const moment of KILL_MOMENTS) {
        const point = { role, operation, moment }
        const name = nameOf(point)
        if (!points.has(name)) points.set(name, { ...point, kills: 0 })
      }
    },
    fault: (kind) => void faults.set(kind, (faults.get(kind) ?? 0) + 1),
    kill: (point) => {
      const name = nameOf(point)
      points.set(name, { ...point, kills: (points.get(name)?.kills ?? 0) + 1 })
    },
    killsAt: (point) => points.get(nameOf(point))?.kills ?? 0,
    fewestKills: (role) =>
      Math.min(...[...points.values()].filter((point) => point.role === role).map(({ kills }) => kills)),
    coverage: () => ({
      requests,
      faults: Object.fromEntries([...faults].sort(([a], [b]) => a.localeCompare(b))),
      killPoints: [...points.values()].sort((a, b) => nameOf(a).localeCompare(nameOf(b))),
    }),
  }
}
