import Table from 'cli-table3'
import type { Figures } from './audit.ts'

export type DemoResult = Figures & { readonly deadLettered: number; readonly seconds: number }

/** Whether the promise held. */
export function isWhole({
  orders,
  events,
  delivered,
  lost,
  doubled,
  outOfOrder,
  deadLettered,
  redriven,
}: DemoResult): boolean {
  return (
    orders > 0 &&
    lost === 0 &&
    doubled === 0 &&
    outOfOrder === 0 &&
    delivered === events &&
    deadLettered > 0 &&
    redriven === deadLettered
  )
}

/** The figures and a verdict, for people. */
export function renderResult(result: DemoResult, seed: number): string {
  const table = new Table({ style: { head: [], border: [] } })
  table.push(
    ['orders placed', result.orders],
    ['events committed with them', result.events],
    ['events delivered and handled', result.delivered],
    ['lost', result.lost],
    ['doubled', result.doubled],
    ['out of order', result.outOfOrder],
    ['dead-lettered after all attempts', result.deadLettered],
    ['redriven and handled', result.redriven],
    ['second mails suppressed by the event id', result.duplicatesSuppressed],
    ['commit to handled, half of them within', `${result.latencyP50Ms} ms`],
    ['commit to handled, 99 % within', `${result.latencyP99Ms} ms`],
    ['seconds', result.seconds],
  )
  const verdict = isWhole(result)
    ? 'The promise held: nothing lost, nothing doubled, every customer in order.'
    : `THE PROMISE BROKE. Repeat it with --seed ${seed} --orders ${result.orders}.`
  return `${table.toString()}\n${verdict}\n`
}
