import { GAUGES, METRICS, type MetricKey, type Telemetry } from '../../src/telemetry.ts'

export type MetricTotal = { readonly name: string; readonly unit: 'Count' | 'Milliseconds'; readonly value: number }

export type Tally = Telemetry & {
  /** What was counted since the last call; empties the tally. */
  readonly drain: () => readonly MetricTotal[]
}

/**
 * Adds up what one invocation counts, so that each metric is written once. Every metric that is ever written costs money
 * each month: a count of 0 is none. Of a gauge the largest value counts, 0 included, for an alarm must see it fall.
 */
export function createTally(): Tally {
  const totals = new Map<MetricKey, number>()
  return {
    count: (metric, value = 1) => {
      const before = totals.get(metric) ?? 0
      totals.set(metric, GAUGES.has(metric) ? Math.max(before, value) : before + value)
    },
    drain: () => {
      const counted = [...totals].filter(([metric, value]) => value !== 0 || GAUGES.has(metric))
      totals.clear()
      return counted.map(([metric, value]) => ({ name: METRICS[metric].name, unit: METRICS[metric].unit, value }))
    },
  }
}
