import type { Command } from 'commander'
import { listRows, type RowList } from '../ops/list-rows.ts'
import type { RowState } from '../outbox/row.ts'
import { systemCommand } from './command.ts'
import { EXIT, type Io, printJson } from './io.ts'
import { showProgress } from './progress.ts'
import { count, shortId, time } from './render.ts'
import { renderEntries, renderTable, widthOf } from './render-table.ts'
import { consentToScan } from './scan-consent.ts'
import { usageError } from './usage-error.ts'

type Options = { readonly state: string; readonly limit: string; readonly scan?: boolean }

const STATES: readonly string[] = ['pending', 'pull', 'dead', 'relayed'] satisfies RowState[]

export function listCommand(io: Io): Command {
  return systemCommand<Options>(
    {
      name: 'list',
      summary: 'rows of one state, the longest waiting first',
      examples: ['list --state pending', 'list --state dead --limit 20', 'list --state relayed --scan --json'],
    },
    io,
    async ({ system, options }) => {
      const { state } = options
      if (!isState(state)) throw usageError(`--state must be one of ${STATES.join(', ')}.`)
      const indexed = state === 'pending' || state === 'dead' || (state === 'pull' && system.pullSources !== undefined)
      if (!indexed && !options.scan)
        throw usageError(
          'No index holds such rows: --scan reads the whole table, and says first how much that is. (Rows of pull workers are found by --pull-source.)',
        )
      const limit = Number(options.limit)
      if (!Number.isSafeInteger(limit) || limit < 1) throw usageError('--limit must be a whole number from 1.')
      const progress = showProgress(io, 'rows looked at')
      const list = await listRows(system, {
        state,
        limit,
        ...(options.scan ? { onEstimate: consentToScan(io) } : {}),
        signal: io.signal,
        onProgress: progress.seen,
      }).finally(progress.end)
      if (options.json) printJson(io, list)
      else io.out(renderRows(list, io.columns))
      return EXIT.ok
    },
  )
    .requiredOption('--state <state>', STATES.join(', '))
    .option('--limit <rows>', 'at most so many', '100')
    .option('--scan', 'read the whole table, for a state that no index holds')
}

function isState(state: string): state is RowState {
  return STATES.includes(state)
}

export function renderRows({ rows, more }: RowList, width: number): string {
  if (rows.length === 0) return 'No such rows.\n'
  const lines = rows.map(({ id, source = '', key = '', type = '', created }) => [
    shortId(id),
    created === undefined ? '' : time(created),
    type,
    source,
    key,
  ])
  return `${renderLines(lines, width)}${count(rows.length, 'row')}${more ? ', and there are more' : ''}.\n`
}

const HEAD = ['event', 'created', 'type', 'source', 'key']

/** A line each; where one is too long, its names stand below it. */
function renderLines(lines: readonly (readonly string[])[], width: number): string {
  if (widthOf(HEAD, lines) <= width) {
    const columns = HEAD.map((head) => ({ head }))
    return renderTable(columns, lines, width)
  }
  const entries = lines.map(([event = '', created = '', ...names]) => ({
    cells: [event, created],
    text: names.map((name, n) => `${HEAD[n + 2]} ${name}`).join(', '),
  }))
  return renderEntries(HEAD.slice(0, 2), entries, width)
}
