import Table from 'cli-table3'
import type { AlsoCaught } from './also-caught.ts'
import type { Verdict } from './by-test.ts'
import type { Safeguard } from './safeguard.ts'

export type SafeguardRow = {
  readonly safeguard: Safeguard
  readonly verdict: Verdict
  readonly also: AlsoCaught | undefined
}

export function renderSafeguards(rows: readonly SafeguardRow[]): string {
  const table = new Table({
    head: ['without', 'verdict', 'caught by', 'also by', 'namely'],
    style: { head: [], border: [] },
    colWidths: [36, 12, 44, 9, 44],
    wordWrap: true,
  })
  for (const { safeguard, verdict, also } of rows)
    table.push([safeguard.name, verdict, safeguard.test.title, also?.by ?? '', also?.how ?? ''])
  const survivors = rows.filter(({ verdict }) => verdict !== 'caught').length
  const alone = rows.filter(({ also }) => also === undefined).length
  return `${[
    table.toString(),
    survivors === 0
      ? `All ${rows.length} safeguards are held by a test.`
      : `${survivors} of ${rows.length} safeguards are NOT held by a test.`,
    alone === 0
      ? 'Each is also caught by the model or the fault rig.'
      : `${alone} of them are caught neither by the model nor by the fault rig.`,
  ].join('\n')}\n`
}
