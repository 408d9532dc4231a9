import Table from 'cli-table3'
import type { BreachKind } from './audit/books.ts'
import { percentile } from './audit/takeovers.ts'
import type { RunResult } from './rounds.ts'

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

export function figuresOf({ rounds, coverage }: RunResult, seed: number): Figures {
  const breaches = rounds.flatMap((round) => round.breaches)
  const count = (kind: BreachKind): number => breaches.filter((breach) => breach.kind === kind).length
  const times = rounds.flatMap(({ takeovers }) => takeovers).sort((a, b) => a - b)
  return {
    seed,
    events: sum(rounds.map(({ events }) => events)),
    faults: sum(Object.values(coverage.faults)),
    kills: sum(rounds.map(({ kills }) => kills)),
    lost: count('lost'),
    doubled: count('doubled'),
    reordered: count('reordered'),
    deadUnrun: count('deadUnrun'),
    stuck: count('stuck'),
    takeoverP50Ms: percentile(times, 0.5),
    takeoverP99Ms: percentile(times, 0.99),
  }
}

/** The figures for people: faults of each kind, and which points a process was killed at. */
export function renderResult(result: RunResult, figures: Figures): string {
  const { coverage, rounds, speed } = result
  const faults = newTable(['fault', 'times'])
  for (const [kind, times] of Object.entries(coverage.faults)) faults.push([kind, times])
  faults.push(['process frozen beyond its time', sum(rounds.map(({ freezes }) => freezes))])
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

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
