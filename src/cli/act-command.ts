import type { Command } from 'commander'
import type { ActOptions, ActOutcome, ActSummary } from '../ops/act-on-dead-letters.ts'
import { discard } from '../ops/discard.ts'
import { redrive } from '../ops/redrive.ts'
import { resolveIds } from '../ops/resolve-id.ts'
import type { Selection } from '../ops/selection.ts'
import type { OutboxSystem } from '../ops/system.ts'
import { systemCommand, whoActs } from './command.ts'
import { EXIT, type Io, printJson } from './io.ts'
import { showProgress } from './progress.ts'
import { count, shortId, wrap } from './render.ts'
import { renderEntries } from './render-table.ts'
import { usageError } from './usage-error.ts'

type Options = {
  readonly handler?: string
  readonly failure?: string
  readonly all?: boolean
  readonly yes?: boolean
  readonly by?: string
  readonly reason?: string
}

const WORDS = {
  redrive: { act: redrive, done: 'redriven', plan: 'would be redriven' },
  discard: { act: discard, done: 'discarded', plan: 'would be discarded' },
} as const

/** `redrive` and `discard`: the same selection, a dry run unless `--yes`. */
export function actCommand(io: Io, name: keyof typeof WORDS): Command {
  const { act, done, plan } = WORDS[name]
  const summary =
    name === 'redrive'
      ? 'send dead letters again: a dry run unless --yes'
      : 'give dead letters up, for a reason that is recorded: a dry run unless --yes'
  const reason = name === 'discard' ? ' --reason "a test"' : ''
  const examples = [
    `${name} 3fa9c1${reason}`,
    `${name} --handler shop/mail --yes${reason}`,
    `${name} --all --yes${reason}`,
  ]
  return systemCommand<Options>({ name, summary, examples }, io, async ({ system, options, args }) => {
    const select = await selectionOf(system, options, args)
    if (name === 'discard' && options.reason === undefined)
      throw usageError('discard needs --reason: why these are given up. It is recorded with each.')
    const outcomes: ActOutcome[] = []
    const progress = showProgress(io, 'dead letters looked at')
    const given: ActOptions = {
      select,
      by: whoActs(options.by, io),
      ...(options.reason === undefined ? {} : { reason: options.reason }),
      dryRun: options.yes !== true,
      signal: io.signal,
      onProgress: progress.seen,
      onOutcome: (outcome) => outcomes.push(outcome),
    }
    const summary = await act(system, given).finally(progress.end)
    if (options.json) printJson(io, { ...summary, outcomes })
    else
      io.out(
        `${renderOutcomes(outcomes, io.columns)}${wrap(sentence(summary, options.yes ? done : plan), io.columns)}\n`,
      )
    return summary.kept > 0 || (args.length > 0 && summary.done + summary.planned === 0) ? EXIT.incomplete : EXIT.ok
  })
    .argument('[id...]', 'event ids, or their first characters')
    .option('--handler <consumer/handler>', 'of this handler; `relay` for rows, `sqs` for what SQS moved')
    .option('--failure <text>', 'with this text in the failure, as dead-letters shows it')
    .option('--all', 'everything that is dead')
    .option('--yes', 'do it')
    .option('--by <name>', 'who does this; default: your user name. Recorded')
    .option('--reason <text>', 'why. Recorded')
}

async function selectionOf(
  system: OutboxSystem,
  { handler, failure, all }: Options,
  args: readonly string[],
): Promise<Selection> {
  if (args.length === 0 && handler === undefined && failure === undefined && all !== true)
    throw usageError(
      'Say which: ids, --handler, --failure or --all. `dynamodb-outbox dead-letters` shows what there is.',
    )
  return {
    ...(args.length === 0 ? {} : { ids: await resolveIds(system, args) }),
    ...(handler === undefined ? {} : { handler }),
    ...(failure === undefined ? {} : { failure }),
    ...(all ? { all } : {}),
  }
}

/** Lines of a table that a person still reads; the sum says the rest. */
const SHOWN = 50

function renderOutcomes(outcomes: readonly ActOutcome[], width: number): string {
  if (outcomes.length === 0) return ''
  const entries = outcomes.slice(0, SHOWN).map(({ id, handler, reason, outcome }) => ({
    cells: [shortId(id), handler, outcome],
    text: reason,
  }))
  const more = outcomes.length > SHOWN ? `… and ${outcomes.length - SHOWN} more (--json lists all)\n` : ''
  return renderEntries(['event', 'handler', 'outcome'], entries, width) + more
}

function sentence({ done, planned, kept, left, hidden }: ActSummary, word: string): string {
  const parts = [
    `${count(done + planned, 'dead letter')} ${word}`,
    ...(kept > 0 ? [`${kept} kept, safe to try again`] : []),
    ...(left > 0 ? [`${left} left alone`] : []),
    ...(hidden > 0 ? [`${hidden} not seen, behind ten of their group`] : []),
  ]
  return `${parts.join('; ')}.${planned > 0 ? ' Add --yes to do it.' : ''}`
}
