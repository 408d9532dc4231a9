import Table from 'cli-table3'
import { wrap } from './render.ts'

/** A table without colours; its columns are as wide as what is in them. */
export function createTable(head: readonly string[], options: Table.TableConstructorOptions = {}): Table.Table {
  return new Table({ head: [...head], style: { head: [], border: [] }, ...options })
}

export type Column = {
  readonly head: string
  /** Takes what room is left, and wraps. One column of a table. */
  readonly wide?: true
  readonly right?: true
}

type Row = readonly string[]

/** Room that cli-table3 adds to a cell: its padding, and a border. */
const CELL_FRAME = 3

/** Characters of a line of such a table, if nothing is wrapped. */
export function widthOf(head: Row, rows: readonly Row[]): number {
  return naturalWidths(head, rows).reduce((sum, size) => sum + size + CELL_FRAME, 1)
}

/** A table no wider than the terminal, without lines between its rows: only the wide column gives way. */
export function renderTable(columns: readonly Column[], rows: readonly Row[], width: number): string {
  const head = columns.map((column) => column.head)
  const wide = columns.findIndex((column) => column.wide)
  const table = createTable(head, { colAligns: columns.map(({ right }) => (right ? 'right' : 'left')) })
  if (rows.length > 0) table.push(together(fitted(head, rows, { wide, width })))
  return `${table.toString()}\n`
}

export type Entry = { readonly cells: Row; readonly text: string }

/** Borders and padding of a table whose second lines go over all columns. */
const FRAME = 4

/**
 * A table in which each entry has a second line for a text of any length; entries that follow each other with the same text share
 * it. It reads well at any width: of the cells the widest gives way.
 */
export function renderEntries(head: Row, entries: readonly Entry[], width: number): string {
  const cells = entries.map((entry) => entry.cells)
  const natural = naturalWidths(head, cells)
  const rows = fitted(head, cells, { wide: natural.indexOf(Math.max(...natural)), width })
  const table = createTable(head)
  for (let at = 0; at < entries.length; ) {
    const { text = '' } = entries[at] ?? {}
    const others = entries.slice(at).findIndex((entry) => entry.text !== text)
    const end = others === -1 ? entries.length : at + others
    table.push(together(rows.slice(at, end)), [{ content: wrap(text, width - FRAME), colSpan: head.length }])
    at = end
  }
  return `${table.toString()}\n`
}

function naturalWidths(head: Row, rows: readonly Row[]): number[] {
  return head.map((name, n) => Math.max(name.length, ...rows.map((row) => (row[n] ?? '').length)))
}

/** Wraps one column, so that the others have their room. */
function fitted(
  head: Row,
  rows: readonly Row[],
  { wide, width }: { readonly wide: number; readonly width: number },
): readonly Row[] {
  const natural = naturalWidths(head, rows)
  const others = natural.reduce((sum, size, n) => sum + CELL_FRAME + (n === wide ? 0 : size), 1)
  const room = Math.max(16, width - others)
  return rows.map((row) => row.map((cell, n) => (n === wide ? wrap(cell, room) : cell)))
}

/** Rows as one, whose cells have as many lines: no line is drawn between them. */
function together(rows: readonly Row[]): string[] {
  const padded = rows.map((row) => {
    const lines = row.map((cell) => cell.split('\n'))
    const height = Math.max(...lines.map(({ length }) => length))
    return lines.map((cell) => [...cell, ...Array<string>(height - cell.length).fill('')])
  })
  return (rows[0] ?? []).map((_, n) => padded.flatMap((row) => row[n] ?? []).join('\n'))
}
