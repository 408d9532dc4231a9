/** One measured figure: a line of the table, and members of the JSON line. */
export type Figure = {
  /** Its name in the JSON line. */
  readonly key: string
  /** What it is, for people, unit included: `relay: events per CPU-second, against a bare send`. */
  readonly label: string
  /** The figure that the bound is on. A ratio where there is a peer, else the quantity itself. */
  readonly value: number
  /** What it was made of, in one unit: our side and the peer's. */
  readonly sides?: { readonly unit: string; readonly ours: number; readonly peer: number }
  /** Largest less smallest of the rounds, as a share of their median. Left out where nothing is repeated. */
  readonly spread?: number
  /** The hard bound, if there is one. */
  readonly bound?: Bound
}

export type Bound = { readonly atLeast: number } | { readonly atMost: number }

/** Whether a figure keeps its bound. One without a bound does; one that is no number does not. */
export function holds({ value, bound }: Figure): boolean {
  if (!Number.isFinite(value)) return false
  if (bound === undefined) return true
  return 'atLeast' in bound ? value >= bound.atLeast : value <= bound.atMost
}

/** `0.6231` → `0.623`, `48213.4` → `48,213`: three significant digits below a hundred, whole numbers above. */
export function readable(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)))
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.min(digits, 4) })
}
