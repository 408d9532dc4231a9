import type { Command } from 'commander'
import { type ReplayOptions, type ReplaySummary, replay } from '../ops/replay.ts'
import type { ScanEstimate } from '../ops/scan.ts'
import { systemCommand, whoActs } from './command.ts'
import { EXIT, type Io, printJson } from './io.ts'
import { showProgress } from './progress.ts'
import { count, time, wrap } from './render.ts'
import { consentToScan, scanText } from './scan-consent.ts'
import { usageError } from './usage-error.ts'

type Options = {
  readonly source: string
  readonly handler: readonly string[]
  readonly type?: string
  readonly from?: string
  readonly to?: string
  readonly perSecond?: string
  readonly again?: boolean
  readonly scan?: boolean
  readonly yes?: boolean
  readonly by?: string
  readonly reason?: string
}

/** `replay`: says what it would read unless `--scan` (count what would be sent) or `--yes` (do it). */
export function replayCommand(io: Io): Command {
  const about = {
    name: 'replay',
    summary: 'send relayed events again, to the handlers named: a dry run unless --yes',
    examples: [
      'replay --source shop --handler stats/count',
      'replay --source shop --handler stats/count --scan',
      'replay --source shop --from 2026-01-01 --handler a/b --yes',
    ],
  }
  return systemCommand<Options>(about, io, async ({ system, options }) => {
    const { scan = false, yes = false } = options
    const consent = consentToScan(io)
    let estimate: ScanEstimate | undefined
    const progress = showProgress(io, 'rows looked at')
    const summary = await replay(system, {
      ...selectionOf(options),
      by: whoActs(options.by, io),
      ...(options.reason === undefined ? {} : { reason: options.reason }),
      dryRun: !yes,
      ...(options.again ? { again: true } : {}),
      onEstimate: (given) => {
        estimate = given
        return (scan || yes) && consent(given)
      },
      signal: io.signal,
      onProgress: progress.seen,
    }).finally(progress.end)
    const plan = scan || yes ? undefined : estimate
    if (options.json) printJson(io, plan === undefined ? summary : { ...summary, estimate: plan })
    else io.out(plan === undefined ? `${wrap(sentence(summary, yes), io.columns)}\n` : planText(plan, io.columns))
    return summary.whole && summary.ended === undefined ? EXIT.ok : plan === undefined ? EXIT.incomplete : EXIT.ok
  })
    .requiredOption('--source <source>', 'events of this source')
    .requiredOption('--handler <consumer/handler...>', 'only these handlers run again')
    .option('--type <type>', 'events of this type')
    .option('--from <time>', 'created from then on, such as 2026-01-31T12:00Z')
    .option('--to <time>', 'created before then; default: now')
    .option('--per-second <events>', 'so many a second at most', '100')
    .option('--again', 'although the same replay has ended before')
    .option('--scan', 'read the table and count what would be sent')
    .option('--yes', 'do it')
    .option('--by <name>', 'who does this; default: your user name. Recorded')
    .option('--reason <text>', 'why. Recorded')
}

function selectionOf({ source, handler, type, from, to, perSecond = '100' }: Options) {
  const times: Pick<ReplayOptions, 'from' | 'to'> = {
    ...(from === undefined ? {} : { from: timeOf('--from', from) }),
    ...(to === undefined ? {} : { to: timeOf('--to', to) }),
  }
  const rate = Number(perSecond)
  if (!Number.isSafeInteger(rate) || rate < 1 || rate > 1000)
    throw usageError('--per-second must be a whole number from 1 to 1000.')
  return { source, handlers: handler, perSecond: rate, ...(type === undefined ? {} : { type }), ...times }
}

function timeOf(option: string, text: string): number {
  const at = Date.parse(text)
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && Number.isFinite(at)) return at
  throw usageError(`${option} must be a date or a time such as 2026-01-31T12:00Z.`)
}

/** Neither `--scan` nor `--yes`: nothing was read yet. */
function planText(estimate: ScanEstimate, width: number): string {
  const costs = `${scanText(estimate)}, on demand ${priceOf(estimate)} in us-east-1`
  const what = `A replay reads the whole table once: ${costs}. DynamoDB's count may be six hours old.`
  return `${wrap(what, width)}
Nothing was read yet, and nothing changed. Next:
  --scan   reads it, counts what would be sent again, changes nothing
  --yes    reads it and sends, no faster than --per-second
`
}

const DOLLARS_PER_MILLION_READ_UNITS = 0.125

function priceOf({ readUnits }: ScanEstimate): string {
  const dollars = (readUnits * DOLLARS_PER_MILLION_READ_UNITS) / 1e6
  return dollars < 0.01 ? 'less than $0.01' : `$${dollars.toFixed(2)}`
}

function sentence({ replayed, before, left, whole, ended }: ReplaySummary, yes: boolean): string {
  if (ended !== undefined) return `The same replay ended at ${time(ended)}. Add --again to do it once more.`
  const parts = [
    `${count(replayed, 'event')} ${yes ? 'replayed' : 'would be replayed'}`,
    ...(before > 0 ? [`${before} by an earlier run of this replay`] : []),
    ...(left > 0 ? [`${left} left alone, for they are not relayed`] : []),
  ]
  const rest = whole ? '' : ' Not all of the table was read: run it again to go on.'
  return `${parts.join('; ')}.${yes ? '' : ' Add --yes to do it.'}${rest}`
}
