import { describe, expect, it } from 'vitest'
import { renderRows } from '../../src/cli/list-command.ts'
import { renderEntries, renderTable } from '../../src/cli/render-table.ts'
import type { RowSummary } from '../../src/ops/row-summary.ts'

const lines = (text: string) => text.trimEnd().split('\n')
const widest = (text: string) => Math.max(...lines(text).map(({ length }) => length))
const row = (key: string, type = 'order.placed'): RowSummary => ({
  pk: `K#shop/${key}`,
  sk: '-',
  id: 'a'.repeat(64),
  state: 'pending',
  source: 'shop',
  key,
  type,
  created: 1_700_000_000_000,
  redrives: 0,
  accepted: [],
  history: [],
})

describe('a table', () => {
  it('has a line for each row, and no lines between them', () => {
    const text = renderTable([{ head: 'name' }, { head: 'n', right: true }], [['one', '1'], ['two', '22']], 80) // biome-ignore format: one line
    expect(lines(text)).toEqual([
      '┌──────┬────┐',
      '│ name │  n │',
      '├──────┼────┤',
      '│ one  │  1 │',
      '│ two  │ 22 │',
      '└──────┴────┘',
    ])
  })

  it('gives way in its wide column alone, and keeps the rows apart', () => {
    const rows = [
      ['a '.repeat(60), 'x'],
      ['b', 'y'],
    ]
    const text = renderTable([{ head: 'wide', wide: true }, { head: 'n' }], rows, 40)
    expect(widest(text)).toBeLessThanOrEqual(40)
    expect(text).toMatch(/│ b +│ y │/)
    expect(text.match(/x/g)).toHaveLength(1)
  })

  it('without rows is its head', () => {
    expect(renderTable([{ head: 'name' }], [], 80)).toContain('name')
  })
})

describe('entries', () => {
  it('that follow each other with one text share it', () => {
    const entries = [1, 2, 3].map((n) => ({ cells: [`event-${n}`, 'shop/mail'], text: n < 3 ? 'full' : 'gone' }))
    expect(
      lines(renderEntries(['event', 'handler'], entries, 80)).map((line) => line.replaceAll(/[─┬┴┼]+/g, '─')),
    ).toEqual([
      '┌─┐',
      '│ event   │ handler   │',
      '├─┤',
      '│ event-1 │ shop/mail │',
      '│ event-2 │ shop/mail │',
      '├─┤',
      '│ full                │',
      '├─┤',
      '│ event-3 │ shop/mail │',
      '├─┤',
      '│ gone                │',
      '└─┘',
    ])
  })

  it('are no wider than the terminal, however long a name or a text is', () => {
    const cells = ['12', `${'c'.repeat(64)}/${'h'.repeat(64)}`, '2026-11-30 23:58:44Z', 'e4ad63f72504']
    const text = renderEntries(['count', 'handler', 'first seen', 'example'], [{ cells, text: 'long '.repeat(99) }], 80)
    expect(widest(text)).toBeLessThanOrEqual(80)
    expect(text.match(/h/g)?.length, 'nothing is cut').toBeGreaterThanOrEqual(64)
  })
})

describe('a list of rows', () => {
  it('is a line each while they fit, and has their names below where they do not', () => {
    const short = renderRows({ rows: [row('k1'), row('k2')], more: false }, 80)
    expect(lines(short)).toHaveLength(7)
    const long = renderRows({ rows: [row('k1'), row('k'.repeat(128), 't'.repeat(100))], more: true }, 80)
    expect(widest(long)).toBeLessThanOrEqual(80)
    expect(long).toContain('type order.placed, source shop, key k1')
    expect(long).toContain('2 rows, and there are more.')
  })
})
