import type { Command } from 'commander'
import { type DeadLetters, listDeadLetters } from '../ops/dead-letters.ts'
import { failureKind } from '../ops/group-dead-letters.ts'
import { systemCommand } from './command.ts'
import { EXIT, type Io, printJson } from './io.ts'
import { showProgress } from './progress.ts'
import { count, createTable, renderTable, shortId, time, wrap } from './render.ts'

type Options = { readonly each?: boolean; readonly handler?: string; readonly failure?: string }

export function deadLettersCommand(io: Io): Command {
  return systemCommand<Options>(
    {
      name: 'dead-letters',
      summary: 'every dead row and dead letter, by handler and failure (exit 1 if there are any)',
      examples: ['dead-letters', 'dead-letters --each --handler shop/send-mail', 'dead-letters --json'],
    },
    io,
    async ({ system, options }) => {
      const progress = showProgress(io, 'dead letters seen')
      const found = await listDeadLetters(system, { signal: io.signal, onProgress: progress.seen }).finally(
        progress.end,
      )
      const chosen = choose(found, options)
      if (options.json)
        printJson(
          io,
          options.each ? chosen : { groups: chosen.groups, total: chosen.items.length, hidden: chosen.hidden },
        )
      else io.out(options.each ? renderEach(chosen, io.columns) : renderGroups(chosen, io.columns))
      return chosen.items.length === 0 ? EXIT.ok : EXIT.incomplete
    },
  )
    .option('--each', 'one line for each instead of one for each cause')
    .option('--handler <consumer/handler>', 'only of this handler; `relay` for rows, `sqs` for what SQS moved')
    .option('--failure <text>', 'only with this text in the failure')
}

function choose({ items, groups, hidden }: DeadLetters, { handler, failure }: Options): DeadLetters {
  const fits = (one: { readonly handler: string }, kind: string): boolean =>
    (handler === undefined || one.handler === handler) && (failure === undefined || kind.includes(failure))
  return {
    items: items.filter((item) => fits(item, failureKind(item.reason))),
    groups: groups.filter((group) => fits(group, group.failure)),
    hidden,
  }
}

/** One box for each cause, its failure below the rest: it reads well at 80 columns whatever its length. */
export function renderGroups({ items, groups, hidden }: DeadLetters, width: number): string {
  if (groups.length === 0) return 'No dead letters.\n'
  const table = createTable(['count', 'handler', 'first seen', 'example'])
  for (const { handler, failure, count: amount, firstSince, example } of groups) {
    table.push([{ content: String(amount), rowSpan: 2, hAlign: 'right' }, handler, time(firstSince), shortId(example)])
    table.push([{ content: wrap(failure, width - FAILURE_FRAME), colSpan: 3 }])
  }
  const more = hidden > 0 ? ` ${count(hidden, 'more')} cannot be shown: SQS shows ten of a group.` : ''
  const summary = `${count(items.length, 'dead letter')} of ${count(groups.length, 'cause')}.${more}`
  return `${table.toString()}\n${summary}\nNext: dynamodb-outbox show <example>\n`
}

/** Borders, padding and the first column. */
const FAILURE_FRAME = 14

export function renderEach({ items }: DeadLetters, width: number): string {
  if (items.length === 0) return 'No dead letters.\n'
  const rows = [...items]
    .sort((a, b) => a.since - b.since)
    .map(({ id, handler, reason, since }) => [shortId(id), handler, reason, time(since)])
  const columns = [{ head: 'event' }, { head: 'handler' }, { head: 'failure', wide: true as const }, { head: 'since' }]
  return renderTable(columns, rows, width)
}
