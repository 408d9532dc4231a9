import type { Clock } from '../../../src/clock.ts'
import { denied, serverError, throttled } from './aws-answers.ts'
import { congestedBatch, congestionAt } from './congestion.ts'
import { decideFault, type Fault } from './decide-fault.ts'
import type { EngineAnswer } from './forward.ts'
import { decidePartial } from './partial.ts'
import type { FaultRates } from './rates.ts'
import type { StaleIndex } from './stale-index.ts'
import type { Journey, TransitOptions } from './transit.ts'
import type { Denial, Outage } from './weather.ts'

/** Undefined: the connection breaks without an answer. */
export type Answered = Promise<EngineAnswer | undefined>

export type CourseDependencies = {
  readonly clock: Clock
  readonly seed: number
  readonly rates: () => FaultRates
  readonly transit: (journey: Journey, options?: TransitOptions) => Promise<EngineAnswer>
  readonly stale: StaleIndex
  /** Ends early when the layer is to be calm. */
  readonly sleep: (ms: number) => Promise<void>
  readonly count: (kind: string) => void
  /** Work that goes on behind an answer. */
  readonly behind: (work: Promise<unknown>) => void
}

/** What becomes of a request whose process lives: as the weather is, and as its own chance decides. */
export function createCourse(deps: CourseDependencies) {
  const { clock, seed, transit, stale, sleep, count, behind } = deps

  /** An engine that is down or a permission that is gone: the request never gets to the engine. */
  const blocked = async ({ request, random }: Journey, against: Outage | Denial): Answered => {
    if ('role' in against) return denied(request)
    if (against.manner === 'error') return serverError(request, random())
    if (against.manner === 'silent') await sleep(Math.max(0, against.until - clock.now()))
    return undefined
  }

  const strike = async (journey: Journey, fault: Fault): Answered => {
    const { request, random } = journey
    switch (fault.kind) {
      case 'none':
        return transit(journey)
      case 'dropped':
        return undefined
      case 'answerLost':
        await transit(journey)
        return undefined
      case 'late':
        behind(sleep(fault.ms).then(() => transit(journey)))
        return undefined
      case 'delayed':
        await sleep(fault.ms)
        return transit(journey)
      case 'duplicated': {
        const first = await transit(journey)
        const second = await transit(journey)
        return fault.answer === 'first' ? first : second
      }
      case 'throttled':
        return throttled(request, random())
      case 'serverError':
        if (fault.applied) await transit(journey)
        return serverError(request, random())
      case 'partial':
        return transit(journey, { part: decidePartial(request, random) })
      case 'inProgress':
        return transit(journey, { holdMs: fault.ms })
      case 'staleRead':
        return transit(journey, { stale: true })
      case 'staleIndex':
        return stale.earlier(request, clock.now()) ?? transit(journey)
    }
  }

  return async (journey: Journey, against: Outage | Denial | undefined): Answered => {
    const { request, random, marks } = journey
    if (against !== undefined) {
      const kind = 'role' in against ? 'denied' : `${against.service} down`
      marks.push(kind)
      count(kind)
      return blocked(journey, against)
    }
    const congestion = congestionAt(seed, clock.now(), deps.rates().congestion)
    const congested = congestion && congestedBatch(request, congestion)
    if (congested !== undefined) return transit(journey, { part: congested })
    const fault = decideFault(request, deps.rates(), random)
    if (!COUNTED_IN_TRANSIT.has(fault.kind)) {
      marks.push(describe(fault))
      count(kindOf(fault))
    }
    const answer = await strike(journey, fault)
    if (request.label === 'Query index' && fault.kind === 'none' && answer?.status === 200)
      stale.note(request, answer, clock.now())
    return answer
  }
}

/** What is answered in part, in progress or stale counts as what it turns out to be, if it turns out to be anything. */
const COUNTED_IN_TRANSIT: ReadonlySet<Fault['kind']> = new Set(['none', 'partial', 'inProgress', 'staleRead'])

function kindOf(fault: Fault): string {
  return fault.kind === 'serverError' && fault.applied ? 'serverError, applied' : fault.kind
}

function describe(fault: Fault): string {
  return 'ms' in fault ? `${fault.kind} ${Math.round(fault.ms)} ms` : kindOf(fault)
}
