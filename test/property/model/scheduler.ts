/** Virtual time, and everything that will happen in it. */
export type Scheduler = {
  /** ms since 1970; the same for queues and tables. Processes see it through clocks of their own. */
  readonly now: () => number
  /** Runs `happen` at a time, after what was planned for the same moment before. Returns what takes it back. */
  readonly at: (time: number, happen: () => void) => () => void
  readonly in: (ms: number, happen: () => void) => () => void
  /**
   * Lets happen what is planned, one event after the other, each only once nothing moves any more. Ends when `isOver`, when
   * nothing is left or at `until` (ms); in the last case time stands there.
   */
  readonly run: (isOver: () => boolean, until?: number) => Promise<void>
  /** Events so far: what a run has cost. */
  readonly steps: () => number
}

type Planned = { readonly time: number; readonly order: number; happen: (() => void) | undefined }

const nextTurn = setImmediate

/**
 * A scheduler whose order is a function of the plan alone. `setImmediate`, by which the code under test gathers calls, is
 * taken over while it runs: then "nothing moves any more" is known, and not waited for.
 */
export function createScheduler(start: number): Scheduler {
  const planned: Planned[] = []
  let now = start
  let order = 0
  let steps = 0

  const at: Scheduler['at'] = (time, happen) => {
    const event: Planned = { time: Math.max(time, now), order: order++, happen }
    planned.splice(placeOf(planned, event), 0, event)
    return () => {
      event.happen = undefined
    }
  }
  const next = (): Planned | undefined => {
    while (planned.length > 0 && planned.at(-1)?.happen === undefined) planned.pop()
    return planned.at(-1)
  }
  const run: Scheduler['run'] = async (isOver, until = Number.POSITIVE_INFINITY) => {
    const turns: (() => void)[] = []
    const real = globalThis.setImmediate
    globalThis.setImmediate = ((happen: () => void) => turns.push(happen)) as unknown as typeof setImmediate
    try {
      await settled(turns)
      for (let event = next(); event !== undefined && !isOver(); event = next()) {
        if (event.time > until) break
        planned.pop()
        now = event.time
        steps += 1
        event.happen?.()
        await settled(turns)
      }
      if (Number.isFinite(until) && !isOver()) now = Math.max(now, until)
    } finally {
      globalThis.setImmediate = real
    }
  }
  return { now: () => now, at, in: (ms, happen) => at(now + ms, happen), run, steps: () => steps }
}

/** Latest first, so that the next event is taken from the end. */
function placeOf(planned: readonly Planned[], { time }: Planned): number {
  let low = 0
  let high = planned.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((planned[middle]?.time ?? 0) > time) low = middle + 1
    else high = middle
  }
  return low
}

/** All promise callbacks run before the next turn of the real event loop; each of our own turns may bring more. */
async function settled(turns: (() => void)[]): Promise<void> {
  do {
    for (const turn of turns.splice(0)) turn()
    await new Promise<void>((resolve) => nextTurn(resolve))
  } while (turns.length > 0)
}
