import { systemClock } from '../clock.ts'
import { errorName } from '../errors.ts'
import type { PulledEvent } from '../outbox/pull-claim.ts'
import { unfailing } from '../telemetry.ts'
import { beginInvocation, type Invocation } from './invocation.ts'
import { type PullDependencies, runPulled, settlePulled } from './pull-delivery.ts'
import { createPullPace, type PullPace } from './pull-pace.ts'
import { checkWorker, type PullWorkerOptions } from './pull-worker-options.ts'

/** Handlers are to have ended this long before another worker may take over, or a fifth of a short lease. ms */
const MARGIN_MS = 2000

type Worker = {
  readonly dependencies: PullDependencies
  readonly pace: PullPace
  readonly signal: AbortSignal
  readonly concurrency: number
  readonly running: Set<Promise<void>>
  /** Claimed, and waiting for their turn with nothing beside them. */
  readonly parked: { readonly claimed: PulledEvent; readonly crashes: number }[]
}

/**
 * Runs a consumer's handlers on events pulled from the outbox table, until `signal` aborts; then it resolves once what was
 * running has ended. Outages are waited out. The rules are the consumer's: the ledger alone counts attempts, a claim that
 * lapsed runs again with nothing beside it, groups run side by side and each in order. Rejects with `INVALID_SETTING` only,
 * at once.
 *
 * A lease is not renewed while a handler runs: `ctx.signal` aborts before it ends. A handler that goes on all the same may
 * meet its successor; of their two `ctx.commit`s one lands.
 */
export async function runPullWorker(options: PullWorkerOptions): Promise<void> {
  const worker = openWorker(options)
  const { signal, pace, parked, running, concurrency } = worker
  while (!signal.aborted) {
    if (parked.length > 0) await runParked(worker)
    const room = concurrency - running.size
    // In an outage of the ledger, one event asks whether it is over.
    if (room > 0) await claim(worker, pace.outages() > 0 ? 1 : room)
    await pause(worker)
  }
  await runParked(worker)
}

function openWorker(options: PullWorkerOptions): Worker {
  const { concurrency, idleMs } = checkWorker(options)
  const { name, pull, ledger, outbox, handlers, ignore = [], clock = systemClock } = options
  const { logger, telemetry } = unfailing(options)
  const pace = createPullPace(clock, idleMs)
  const dependencies: PullDependencies = {
    pull,
    ledger,
    logger,
    clock,
    telemetry: {
      count: (metric, value) => {
        if (metric === 'ledgerUnavailable') pace.outage()
        telemetry.count(metric, value)
      },
    },
    registry: { consumer: name, handlers, ignore: new Set(ignore) },
    ...(outbox === undefined ? {} : { outbox }),
  }
  const { signal = new AbortController().signal } = options
  return { dependencies, pace, signal, concurrency, running: new Set(), parked: [] }
}

async function claim(worker: Worker, limit: number): Promise<void> {
  const { dependencies, pace, signal } = worker
  try {
    const claims = await dependencies.pull.claim({ limit })
    pace.looked(claims.length)
    for (const claimed of claims) {
      if (signal.aborted) await giveBack(worker, claimed)
      else start(worker, claimed)
    }
  } catch (error) {
    pace.looked(0)
    dependencies.logger.warn('nothing claimed', { reason: errorName(error) })
  }
}

function start(worker: Worker, claimed: PulledEvent): void {
  const { running } = worker
  const started: Promise<void> = run(worker, claimed, false).finally(() => running.delete(started))
  running.add(started)
}

async function run(worker: Worker, claimed: PulledEvent, alone: boolean): Promise<void> {
  const { dependencies, pace, parked } = worker
  const outages = pace.outages()
  const invocation = openInvocation(worker, claimed)
  const settlement = await runPulled(dependencies, { claimed, invocation, alone, round: outages + 1 })
  invocation.end()
  if (pace.outages() === outages) pace.handled()
  if (settlement.status !== 'wait-alone') await settlePulled(dependencies, claimed, settlement)
  else if (alone) await giveBack(worker, claimed)
  else parked.push({ claimed, crashes: settlement.crashes })
}

/** Those that crashed the process before come last, each with nothing beside it and a lease of full length. */
async function runParked(worker: Worker): Promise<void> {
  const { dependencies, running, parked, signal } = worker
  await Promise.all(running)
  for (const { claimed } of parked.splice(0).sort((one, other) => one.crashes - other.crashes)) {
    const renewed = signal.aborted ? undefined : await dependencies.pull.renew(claimed).catch(() => undefined)
    if (renewed === undefined) await giveBack(worker, claimed)
    else await run(worker, renewed, true)
  }
}

function giveBack({ dependencies }: Worker, claimed: PulledEvent): Promise<void> {
  return settlePulled(dependencies, claimed, { status: 'later', due: dependencies.clock.now() })
}

/** For a while; cut short when something ends, for it may have made the next of its group due. Not in an outage. */
async function pause({ dependencies, pace, running, signal, concurrency }: Worker): Promise<void> {
  const woken = new AbortController()
  const asleep = dependencies.clock.sleep(pace.pauseMs(), AbortSignal.any([signal, woken.signal])).catch(() => {})
  if (running.size >= concurrency) await Promise.race(running)
  else if (pace.outages() > 0) await asleep
  else await Promise.race([...running, asleep])
  woken.abort()
}

function openInvocation({ dependencies: { clock, pull } }: Worker, { lease }: PulledEvent): Invocation {
  const margin = Math.min(MARGIN_MS, pull.leaseSeconds * 200)
  return beginInvocation({ clock, context: { getRemainingTimeInMillis: () => lease - margin - clock.now() } })
}
