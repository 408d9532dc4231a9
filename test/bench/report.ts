import Table from 'cli-table3'
import { type Bound, type Figure, holds, readable } from './figure.ts'

/** A table for people, and what does not hold. */
export function renderTable(figures: readonly Figure[], seconds: number): string {
  const head = ['figure', 'ours', 'peer', 'value', 'spread', 'bound', 'holds']
  const table = new Table({ head, style: { head: [], border: [] } })
  for (const figure of figures) table.push(rowOf(figure))
  const broken = figures.filter((figure) => !holds(figure))
  const verdict =
    broken.length === 0
      ? `Every bound holds. ${readable(seconds)} s.`
      : `DOES NOT HOLD: ${broken.map(({ key, value }) => `${key} (${readable(value)})`).join(', ')}. ${readable(seconds)} s.`
  return `${table.toString()}\n${verdict}\n`
}

function rowOf(figure: Figure): string[] {
  const { label, value, sides, spread, bound } = figure
  return [
    label,
    sides === undefined ? '' : `${readable(sides.ours)} ${sides.unit}`,
    sides === undefined ? '' : `${readable(sides.peer)} ${sides.unit}`,
    readable(value),
    spread === undefined ? '' : `${readable(spread * 100)} %`,
    bound === undefined ? '' : boundText(bound),
    bound === undefined ? '' : holds(figure) ? 'yes' : 'NO',
  ]
}

function boundText(bound: Bound): string {
  return 'atLeast' in bound ? `≥ ${bound.atLeast}` : `≤ ${bound.atMost}`
}

/** One line: each figure under its key, with `…Ours`, `…Peer` and `…Spread` beside it, and what does not hold. */
export function renderLine(figures: readonly Figure[], seconds: number): string {
  const members = figures.flatMap(({ key, value, sides, spread }): [string, number][] => [
    [key, rounded(value)],
    ...(sides === undefined
      ? []
      : ([
          [`${key}Ours`, rounded(sides.ours)],
          [`${key}Peer`, rounded(sides.peer)],
        ] as [string, number][])),
    ...(spread === undefined ? [] : ([[`${key}Spread`, rounded(spread)]] as [string, number][])),
  ])
  const failed = figures.filter((figure) => !holds(figure)).map(({ key }) => key)
  return `${JSON.stringify({ ...Object.fromEntries(members), failed, seconds: rounded(seconds) })}\n`
}

/** Four significant digits. */
function rounded(value: number): number {
  return Number(value.toPrecision(4))
}
