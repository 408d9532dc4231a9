import type { Command } from 'commander'
import { forget } from '../ops/forget.ts'
import { showEvent } from '../ops/show-event.ts'
import { systemCommand, whoActs } from './command.ts'
import { EXIT, type Io, printJson } from './io.ts'
import { showProgress } from './progress.ts'
import { count } from './render.ts'
import { consentToScan } from './scan-consent.ts'
import { refOf, renderEvent } from './show-command.ts'
import { usageError } from './usage-error.ts'

type Options = {
  readonly yes?: boolean
  readonly undelivered?: boolean
  readonly scan?: boolean
  readonly by?: string
  readonly reason?: string
}

export function forgetCommand(io: Io): Command {
  return systemCommand<Options>(
    {
      name: 'forget',
      summary: 'remove an event’s data from row, ledger and dead-letter queues: a dry run unless --yes',
      examples: ['forget shop order/17', 'forget 3fa9c1d2 --reason "request 204" --yes'],
    },
    io,
    async ({ system, options, args }) => {
      const ref = await refOf(system, args)
      const scan = options.scan ? { onEstimate: consentToScan(io) } : {}
      if (!options.yes) {
        const view = await showEvent(system, ref, { ...scan, signal: io.signal })
        if (view === undefined)
          throw usageError('No such event: never written, or expired. --scan reads the whole table.')
        if (options.json) printJson(io, { planned: view })
        else io.out(`${renderEvent(view, io.columns)}\nIts data would be removed for good. Add --yes to do it.\n`)
        return EXIT.ok
      }
      const progress = showProgress(io, 'dead letters looked at')
      const report = await forget(system, ref, {
        ...scan,
        by: whoActs(options.by, io),
        ...(options.reason === undefined ? {} : { reason: options.reason }),
        ...(options.undelivered ? { undelivered: true } : {}),
        signal: io.signal,
        onProgress: progress.seen,
      }).finally(progress.end)
      if (options.json) printJson(io, report)
      else
        io.out(
          `Row ${report.row}; ${count(report.entries, 'ledger entry', 'ledger entries')} and ${count(report.messages, 'dead letter')} cleared.\n`,
        )
      return report.row === 'forgotten' ? EXIT.ok : EXIT.incomplete
    },
  )
    .argument('<id or source>', 'an event id or its first characters; or the source')
    .argument('[key]', 'the key; of an ordered event "group sequence"')
    .option('--undelivered', 'even if it has not been delivered: it never will be')
    .option('--scan', 'look for an id in the whole table')
    .option('--yes', 'do it')
    .option('--by <name>', 'who does this; default: your user name. Recorded')
    .option('--reason <text>', 'why. Recorded')
}
