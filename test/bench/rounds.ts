/** One way of doing the work. */
export type Side = {
  /** Gets everything ready, unmeasured, and gives the work. */
  readonly prepare: () => Promise<Work> | Work
  /** Throws if not all of the work was done. Unmeasured. */
  readonly verify?: () => Promise<void>
}

/** The work of one measurement. */
export type Work = () => Promise<unknown>

export type Sample = {
  /** CPU of this process, user and system, in seconds. */
  readonly cpuSeconds: number
  readonly seconds: number
}

export type RoundsOptions = {
  /** Rounds measured; each runs every side once. */
  readonly rounds: number
  /** Rounds before those, thrown away. */
  readonly warmUp: number
}

/**
 * Runs the sides in turn, in the other direction every second round, so that whatever changes on the machine meanwhile
 * meets all of them alike. Gives the samples of each side, by round.
 */
export async function interleave(
  sides: readonly Side[],
  { rounds, warmUp }: RoundsOptions,
): Promise<readonly (readonly Sample[])[]> {
  const samples = sides.map((): Sample[] => [])
  for (let round = -warmUp; round < rounds; round += 1) {
    const order = [...sides.keys()]
    if (round % 2 !== 0) order.reverse()
    for (const n of order) {
      const side = sides[n]
      const sample = side && (await measure(side))
      if (sample !== undefined && round >= 0) samples[n]?.push(sample)
    }
  }
  return samples
}

async function measure({ prepare, verify }: Side): Promise<Sample> {
  const work = await prepare()
  // What the side before has left behind is not collected at this one's cost.
  globalThis.gc?.()
  const cpu = process.cpuUsage()
  const started = performance.now()
  await work()
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(cpu)
  await verify?.()
  return { cpuSeconds: (user + system) / 1e6, seconds }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  if (low === undefined || high === undefined) throw new Error('a median of nothing')
  return (low + high) / 2
}

/** Largest less smallest, as a share of the median. */
export function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / median(values)
}

export type Comparison = {
  readonly ours: number
  readonly peer: number
  readonly ratio: number
  readonly spread: number
}

/**
 * Compares two sides by a quantity of their samples. The ratio is the median of the rounds' own ratios: both sides of one
 * round ran right after each other.
 */
export function compare(ours: readonly number[], peer: readonly number[]): Comparison {
  const ratios = ours.map((value, round) => value / (peer[round] ?? Number.NaN))
  return { ours: median(ours), peer: median(peer), ratio: median(ratios), spread: spread(ratios) }
}
