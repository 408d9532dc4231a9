import { seededRandom } from '../../demo/chance.ts'
import { type Counts, KILL_MOMENTS, type KillMoment } from './coverage.ts'
import type { LayerRequest } from './request.ts'

export type KillOrder = {
  readonly role: string
  /** Given: freeze it (SIGSTOP) for so long, ms of the rig's clock, and thaw it. Else SIGKILL. */
  readonly freezeMs?: number
}

/** What was done to whom, and at which request. */
export type KillReport = {
  readonly process: string
  readonly pid: number
  readonly role: string
  /** The request's label. */
  readonly operation: string
  readonly moment: KillMoment
  readonly freezeMs?: number
  /** ms of the rig's clock. */
  readonly at: number
  /** Ids of events and keys of rows in the request, as far as it names any. */
  readonly touched: readonly string[]
}

export type Strike = {
  readonly moment: KillMoment
  readonly freezeMs?: number
  /** Says that it was done. */
  readonly done: (report: KillReport) => void
  /** It could not be done: the order waits for another request. */
  readonly again: () => void
}

export type Kills = {
  readonly arm: (order: KillOrder) => Promise<KillReport | undefined>
  /** Whether an armed order takes this request, and at which moment. */
  readonly strikeAt: (request: LayerRequest) => Strike | undefined
  /** Gives all armed orders up. */
  readonly clear: () => void
}

/** For so many requests an order waits for a point that is covered least; then for one that is covered once more, and so on. */
const PATIENCE = 25

/** Orders to kill, each taken by the first request of its role at which too few processes have died. */
export function createKills(seed: number, counts: Counts): Kills {
  const random = seededRandom(seed)
  let armed: { readonly order: KillOrder; readonly settle: (report?: KillReport) => void; waited: number }[] = []

  const leastCovered = ({ role, label: operation }: LayerRequest): { moment: KillMoment; kills: number } => {
    const points = KILL_MOMENTS.map((moment) => ({
      moment,
      kills: counts.killsAt({ role, operation, moment }),
      chance: random(),
    }))
    points.sort((a, b) => a.kills - b.kills || a.chance - b.chance)
    return points[0] ?? { moment: 'before', kills: 0 }
  }

  return {
    arm: (order) =>
      new Promise((settle) => {
        armed.push({ order, settle, waited: 0 })
      }),
    strikeAt: (request) => {
      const waiting = armed.find(({ order }) => order.role === request.role)
      if (waiting === undefined) return undefined
      const { moment, kills } = leastCovered(request)
      waiting.waited += 1
      if (kills > counts.fewestKills(request.role) + Math.floor(waiting.waited / PATIENCE)) return undefined
      armed = armed.filter((other) => other !== waiting)
      const { freezeMs } = waiting.order
      return {
        moment,
        ...(freezeMs === undefined ? {} : { freezeMs }),
        done: waiting.settle,
        again: () => void armed.unshift(waiting),
      }
    },
    clear: () => {
      for (const { settle } of armed) settle()
      armed = []
    },
  }
}
