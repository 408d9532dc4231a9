import { setMaxListeners } from 'node:events'
import type { Clock } from '../../../src/clock.ts'
import { createAssault, type Outcome } from './assault.ts'
import { requestRandom } from './chance.ts'
import { createCourse } from './course.ts'
import { type Counts, type Coverage, createCounts } from './coverage.ts'
import { connectEngines } from './forward.ts'
import { createInProgress } from './in-progress.ts'
import { createKills, type KillOrder, type KillReport } from './kills.ts'
import { openProxy } from './proxy.ts'
import { CALM, type FaultRates } from './rates.ts'
import { openRecorder } from './recorder.ts'
import { createStaleIndex } from './stale-index.ts'
import { createRecentInserts } from './stale-read.ts'
import { createTransit, type Journey } from './transit.ts'
import { createWeather, type Denial, type Outage } from './weather.ts'

export type FaultLayerOptions = {
  /** Base URLs of the engines. */
  readonly dynamo: string
  readonly sqs: string
  readonly seed: number
  /** The rig's clock: waits and outages are in its time. */
  readonly clock: Clock
  /** Goes on counting where another layer has begun. Default: its own. */
  readonly counts?: Counts
  /** Default: none. */
  readonly rates?: Partial<FaultRates>
}

/**
 * Stands between the processes of the rig and the engines, and spoils what passes in the ways AWS and its networks do.
 * Nothing else: no committed write is undone, nothing is said to be done that was not, no accepted message is lost.
 */
export type FaultLayer = {
  /**
   * Base URLs for the SDK clients of one process. The name says who asks, and ends in `-n` or `#n` where a role has
   * several: `writer-2`, `consumer-a#17`. Any number of names, without a call to open or close them.
   */
  readonly endpointsFor: (process: string) => { readonly dynamo: string; readonly sqs: string }
  /** Says which OS process now goes under a name: kills and freezes go to it. */
  readonly register: (process: string, pid: number) => void
  readonly unregister: (process: string) => void
  /**
   * Arms one kill (or freeze) of a process of a role, at the request that covers a kill point not covered yet if one comes
   * by. Resolves once it was done; with undefined on `quiet` or `stop`.
   */
  readonly armKill: (order: KillOrder) => Promise<KillReport | undefined>
  /** What is not given is as it was. */
  readonly setRates: (rates: Partial<FaultRates>) => void
  /** An engine that is down until a moment of the rig's clock, besides those of the rates. */
  readonly outage: (outage: Outage) => void
  readonly deny: (denial: Denial) => void
  /**
   * Ends all faults, outages and armed kills and thaws who is frozen. Resolves once everything that was under way has
   * reached its engine: from then on it is answered as the engines answer.
   */
  readonly quiet: () => Promise<void>
  readonly coverage: () => Coverage
  /** Every request that named one of these texts (an event id, a row's `pk sk`), in order, as lines for people. */
  readonly trace: (texts: readonly string[]) => Promise<readonly string[]>
  readonly stop: () => Promise<void>
}

export async function startFaultLayer(options: FaultLayerOptions): Promise<FaultLayer> {
  const { clock, seed } = options
  const engines = connectEngines(options)
  const recorder = await openRecorder(clock.now())
  const counts = options.counts ?? createCounts()
  const kills = createKills(seed + 1, counts)
  const weather = createWeather(seed + 2)
  const pids = new Map<string, number>()
  const underWay = new Set<Promise<unknown>>()
  let rates: FaultRates = CALM
  let calm = newCalm()

  const behind = (work: Promise<unknown>): void => {
    const settled: Promise<unknown> = work.catch(() => {}).finally(() => underWay.delete(settled))
    underWay.add(settled)
  }
  const sleep = (ms: number): Promise<void> => clock.sleep(ms, calm.signal).catch(() => {})
  const { fault: count } = counts
  const transit = createTransit({
    engines,
    progress: createInProgress(),
    recent: createRecentInserts(),
    clock,
    sleep,
    count,
  })
  const stale = createStaleIndex()
  const course = createCourse({ clock, seed: seed + 3, rates: () => rates, transit, stale, sleep, count, behind })
  const pidOf = (process: string): number | undefined => pids.get(process)
  const { tell } = recorder
  const assault = createAssault({ clock, transit, pidOf, signal: sendSignal, sleep, counts, tell, behind })

  const meet = async (journey: Journey): Promise<Outcome> => {
    const { request } = journey
    const strike = pids.has(request.process) ? kills.strikeAt(request) : undefined
    if (strike !== undefined) return assault(journey, strike)
    return { answer: await course(journey, weather.against(request, clock.now())) }
  }

  const proxy = await openProxy(async (request, headers) => {
    const from = clock.now()
    const journey: Journey = { request, headers, random: requestRandom(seed, request.process, request.n), marks: [] }
    counts.request(request.role, request.label)
    const met = meet(journey)
    behind(met)
    const outcome = await met.catch((): Outcome => ({}))
    recorder.note({ request, from, to: clock.now(), marks: journey.marks, answer: outcome.answer })
    return outcome
  })

  const setRates = (given: Partial<FaultRates>): void => {
    rates = { ...rates, ...given }
    weather.setRates(rates, clock.now())
  }
  const quiet = async (): Promise<void> => {
    rates = CALM
    weather.clear()
    kills.clear()
    calm.abort(new Error('calm'))
    calm = newCalm()
    while (underWay.size > 0) await Promise.all(underWay)
  }
  if (options.rates !== undefined) setRates(options.rates)

  return {
    endpointsFor: (process) => {
      const url = `${proxy.url}/${encodeURIComponent(process)}`
      return { dynamo: url, sqs: url }
    },
    register: (process, pid) => void pids.set(process, pid),
    unregister: (process) => void pids.delete(process),
    armKill: kills.arm,
    setRates,
    outage: weather.outage,
    deny: weather.deny,
    quiet,
    coverage: counts.coverage,
    trace: recorder.trace,
    stop: async () => {
      void quiet()
      await proxy.close()
      engines.close()
      await recorder.close()
    },
  }
}

/** Any number of requests may wait at once. */
function newCalm(): AbortController {
  const calm = new AbortController()
  setMaxListeners(0, calm.signal)
  return calm
}

function sendSignal(pid: number, name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}
