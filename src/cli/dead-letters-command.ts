import type { Command } from 'commander'
import { type DeadLetters, listDeadLetters } from '../ops/dead-letters.ts'
import { failureKind } from '../ops/group-dead-letters.ts'
import { systemCommand } from './command.ts'
import { EXIT, type Io, printJson } from './io.ts'
import { showProgress } from './progress.ts'
import { count, shortId, time, wrap } from './render.ts'
import { renderEntries } from './render-table.ts'

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

export function renderGroups({ items, groups, hidden }: DeadLetters, width: number): string {
  if (groups.length === 0) return 'No dead letters.\n'
  const entries = groups.map(({ handler, failure, count: amount, firstSince, example }) => ({
    cells: [String(amount), handler, time(firstSince), shortId(example)],
    text: failure,
  }))
  const more = hidden > 0 ? ` ${hidden} more cannot be shown: SQS shows ten of a group.` : ''
  const summary = `${count(items.length, 'dead letter')} of ${count(groups.length, 'cause')}.${more}`
  const table = renderEntries(['count', 'handler', 'first seen', 'example'], entries, width)
  return `${table}${wrap(summary, width)}\nNext: dynamodb-outbox show <example>\n`
}

export function renderEach({ items }: DeadLetters, width: number): string {
  if (items.length === 0) return 'No dead letters.\n'
  const entries = [...items]
    .sort((a, b) => a.since - b.since)
    .map(({ id, handler, reason, since }) => ({ cells: [shortId(id), handler, time(since)], text: reason }))
  return renderEntries(['event', 'handler', 'since'], entries, width)
}
