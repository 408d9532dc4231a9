import type { Clock } from '../../../src/clock.ts'
import { between } from './chance.ts'
import type { Counts } from './coverage.ts'
import type { EngineAnswer } from './forward.ts'
import type { KillReport, Strike } from './kills.ts'
import { namesIn } from './recorder.ts'
import type { Journey, TransitOptions } from './transit.ts'

/** What goes back to a process; `delivered` is called once the answer has left. */
export type Outcome = { readonly answer?: EngineAnswer | undefined; readonly delivered?: () => void }

export type AssaultDependencies = {
  readonly clock: Clock
  readonly transit: (journey: Journey, options?: TransitOptions) => Promise<EngineAnswer>
  readonly pidOf: (process: string) => number | undefined
  /** False if there is no such process any more. */
  readonly signal: (pid: number, name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => boolean
  readonly sleep: (ms: number) => Promise<void>
  readonly counts: Counts
  readonly tell: (at: number, text: string) => void
  readonly behind: (work: Promise<unknown>) => void
}

/** The answer may or may not be read before the process dies. ms of real time. */
const AFTER_ANSWER_MS = 4

/** What becomes of a request at which its process is killed or frozen. */
export function createAssault(deps: AssaultDependencies) {
  const { clock, transit, sleep, counts, behind } = deps

  /** Kills, or freezes and thaws later; resolves once the process is dead or thawed. */
  const hit = (journey: Journey, strike: Strike): Promise<void> => {
    const { id, process, role, label, body } = journey.request
    const { moment, freezeMs } = strike
    const pid = deps.pidOf(process)
    if (pid === undefined || !deps.signal(pid, freezeMs === undefined ? 'SIGKILL' : 'SIGSTOP')) {
      strike.again()
      return Promise.resolve()
    }
    counts.kill({ role, operation: label, moment })
    const touched = namesIn(body)
    const report: KillReport = {
      process,
      pid,
      role,
      operation: label,
      moment,
      at: clock.now(),
      touched,
      ...(freezeMs === undefined ? {} : { freezeMs }),
    }
    const what = freezeMs === undefined ? 'killed' : `frozen for ${freezeMs} ms`
    const when = moment === 'before' ? 'before' : `after it was ${moment}:`
    deps.tell(report.at, `${process} ${what} ${when} #${id} ${label}: ${touched.join(', ')}`)
    strike.done(report)
    return freezeMs === undefined ? Promise.resolve() : sleep(freezeMs).then(() => void deps.signal(pid, 'SIGCONT'))
  }

  return async (journey: Journey, strike: Strike): Promise<Outcome> => {
    const dies = strike.freezeMs === undefined
    switch (strike.moment) {
      case 'before':
        await hit(journey, strike)
        // Of one that is frozen in the middle of writing it, the request gets through once it is thawed.
        return dies ? {} : { answer: await transit(journey) }
      case 'applied': {
        const answer = await transit(journey)
        const over = hit(journey, strike)
        if (!dies) behind(over)
        return dies ? {} : { answer }
      }
      case 'answered': {
        const answer = await transit(journey)
        const delivered = (): void => {
          const wait = dies ? between(journey.random, 0, AFTER_ANSWER_MS) : 0
          setTimeout(() => behind(hit(journey, strike)), wait)
        }
        return { answer, delivered }
      }
    }
  }
}
