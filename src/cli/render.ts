import Table from 'cli-table3'

/** Characters of an event id that tables show: any of its beginnings that is unique will do for a command. */
const SHOWN_ID = 12

export function shortId(id: string): string {
  return /^[0-9a-f]{64}$/.test(id) ? id.slice(0, SHOWN_ID) : id
}

/** `2 d 3 h`, `5 min`, `12 s`: two units at most. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const first = parts.findIndex(([amount]) => amount > 0)
  if (first < 0) return '0 s'
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ')
}

/** `2026-11-30 20:15:00Z`. */
export function time(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace('T', ' ')
}

export function count(amount: number, noun: string, plural = `${noun}s`): string {
  return `${amount.toLocaleString('en')} ${amount === 1 ? noun : plural}`
}

/** Text in lines no longer than this, broken between words; what is longer than a line is cut within. */
export function wrap(text: string, width: number): string {
  const lines: string[] = ['']
  for (const word of text.split(/\s+/).flatMap((one) => one.match(new RegExp(`.{1,${width}}`, 'gu')) ?? [])) {
    const line = lines.at(-1) ?? ''
    if (line === '') lines[lines.length - 1] = word
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines.join('\n')
}

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

/** Room that cli-table3 adds to a cell: its padding, and a border. */
const CELL_FRAME = 3

/** A table no wider than the terminal: only the wide column gives way. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string {
  const natural = columns.map(({ head }, n) => Math.max(head.length, ...rows.map((row) => (row[n] ?? '').length)))
  const others = natural.reduce((sum, size, n) => sum + (columns[n]?.wide ? 0 : size + CELL_FRAME), 1)
  const room = Math.max(16, width - others - CELL_FRAME)
  const table = createTable(
    columns.map(({ head }) => head),
    { colAligns: columns.map(({ right }) => (right ? 'right' : 'left')) },
  )
  table.push(...rows.map((row) => row.map((cell, n) => (columns[n]?.wide ? wrap(cell, room) : cell))))
  return `${table.toString()}\n`
}

export type Entry = { readonly cells: readonly string[]; readonly text: string }

/** Borders and padding of a table whose second lines go over all columns. */
const FRAME = 4

/** A table in which each entry has a second line for a text of any length: it reads well at any width. */
export function renderEntries(head: readonly string[], entries: readonly Entry[], width: number): string {
  const table = createTable(head)
  for (const { cells, text } of entries)
    table.push([...cells], [{ content: wrap(text, width - FRAME), colSpan: head.length }])
  return `${table.toString()}\n`
}

/** `name  value` lines, the names as wide as the longest. */
export function renderFields(fields: readonly (readonly [string, string])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('')
}
