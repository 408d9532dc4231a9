import Table from 'cli-table3'
import type { BreachKind } from './audit/books.ts'
import { percentile } from './audit/takeovers.ts'
import type { RigResult } from './rig.ts'

export type Figures = {
  readonly seed: number
  readonly events: number
  readonly faults: number
  readonly kills: number
  readonly lost: number
  readonly doubled: number
  readonly reordered: number
  readonly deadUnrun: number
  readonly stuck: number
  /** From a kill to the handling by another process of what the killed one had in hand, ms of the rig's clock. */
  readonly takeoverP50Ms: number
  readonly takeoverP99Ms: number
}

export function figuresOf(result: RigResult, seed: number): Figures {
  const { books, breaches, coverage, kills, takeovers } = result
  const count = (kind: BreachKind): number => breaches.filter((breach) => breach.kind === kind).length
  return {
    seed,
    events: books.rows.length,
    faults: Object.values(coverage.faults).reduce((sum, times) => sum + times, 0),
    kills,
    lost: count('lost'),
    doubled: count('doubled'),
    reordered: count('reordered'),
    deadUnrun: count('deadUnrun'),
    stuck: count('stuck'),
    takeoverP50Ms: percentile(takeovers, 0.5),
    takeoverP99Ms: percentile(takeovers, 0.99),
  }
}

/** The figures for people: faults of each kind, and which points a process was killed at. */
export function renderResult(result: RigResult, figures: Figures): string {
  const { coverage, freezes, speed } = result
  const faults = newTable(['fault', 'times'])
  for (const [kind, times] of Object.entries(coverage.faults)) faults.push([kind, times])
  faults.push(['frozen beyond its time', freezes])
  const points = newTable(['process', 'request', 'before', 'applied', 'answered'])
  const requests = Map.groupBy(coverage.killPoints, ({ role, operation }) => `${role}\n${operation}`)
  for (const [name, moments] of requests) {
    const at = (moment: string): number => moments.find((point) => point.moment === moment)?.kills ?? 0
    points.push([...name.split('\n'), at('before'), at('applied'), at('answered')])
  }
  const covered = coverage.killPoints.filter(({ kills }) => kills > 0).length
  const totals = newTable([])
  for (const [name, value] of Object.entries(figures)) totals.push([name, value])
  return [
    faults.toString(),
    points.toString(),
    `kill points covered ${covered} of ${coverage.killPoints.length}; ${coverage.requests} requests`,
    totals.toString(),
    `takeover: from a kill until another process handles what it had in hand, in ms of a clock ${speed} times as fast`,
    '',
  ].join('\n')
}

function newTable(head: string[]): Table.Table {
  return new Table({ head, style: { head: [], border: [] } })
}
