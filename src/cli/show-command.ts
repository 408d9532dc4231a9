import type { Command } from 'commander'
import type { EventRef } from '../ops/find-row.ts'
import { resolveIds } from '../ops/resolve-id.ts'
import { type EventView, showEvent } from '../ops/show-event.ts'
import type { OutboxSystem } from '../ops/system.ts'
import { systemCommand } from './command.ts'
import { EXIT, type Io, printJson } from './io.ts'
import { showProgress } from './progress.ts'
import { renderFields, time } from './render.ts'
import { consentToScan } from './scan-consent.ts'
import { usageError } from './usage-error.ts'

type Options = { readonly data?: boolean; readonly scan?: boolean }

export function showCommand(io: Io): Command {
  return systemCommand<Options>(
    {
      name: 'show',
      summary: 'one event: its row, what each handler has made of it, its dead letters',
      examples: ['show 3fa9c1d2', 'show shop order/17', 'show shop "customer-9 42" --data'],
    },
    io,
    async ({ system, options, args }) => {
      const ref = await refOf(system, args)
      const progress = showProgress(io, 'rows and messages looked at')
      const view = await showEvent(system, ref, {
        ...(options.data ? { data: true } : {}),
        ...(options.scan ? { onEstimate: consentToScan(io) } : {}),
        signal: io.signal,
        onProgress: progress.seen,
      }).finally(progress.end)
      if (view === undefined)
        throw usageError(
          'No such event: never written, or expired. An id alone is found while dead or pending; --scan reads the whole table.',
        )
      if (options.json) printJson(io, view)
      else io.out(renderEvent(view, io.columns))
      return EXIT.ok
    },
  )
    .argument('<id or source>', 'an event id or its first characters; or the source')
    .argument('[key]', 'the key; of an ordered event "group sequence"')
    .option('--data', 'the body too, with the event’s data')
    .option('--scan', 'look for an id in the whole table')
}

/** One argument is an id, two are source and key. */
export async function refOf(system: OutboxSystem, args: readonly string[]): Promise<EventRef> {
  const [first = '', key] = args
  if (key !== undefined) return { source: first, key }
  const [id = first] = await resolveIds(system, [first])
  return { id }
}

export function renderEvent({ id, row, body, handlers, deadLetters }: EventView, width: number): string {
  const parts = [
    renderFields([['event', id], ...(row === undefined ? NO_ROW : rowFields(row))], width),
    ...handlers.map((handler) => renderFields(handlerFields(handler), width)),
    ...deadLetters.map(({ handler, reason, since }) =>
      renderFields(
        [
          ['dead letter', handler],
          ['  since', time(since)],
          ['  failure', reason],
        ],
        width,
      ),
    ),
    ...(body === undefined ? [] : [`${body}\n`]),
  ]
  return parts.join('\n')
}

type Field = readonly [string, string]

const NO_ROW: readonly Field[] = [['row', 'not found (expired, or not to be found by its id without --scan)']]

function rowFields(row: NonNullable<EventView['row']>): readonly Field[] {
  const optional = (name: string, value: string | undefined): Field[] => (value === undefined ? [] : [[name, value]])
  return [
    ['state', row.forgotten === undefined ? row.state : `${row.state}, its data forgotten ${time(row.forgotten)}`],
    ...optional('source', row.source),
    ...optional('key', row.key),
    ...optional('type', row.type),
    ...optional('created', row.created === undefined ? undefined : time(row.created)),
    ...optional('expires', row.expires === undefined ? undefined : time(row.expires * 1000)),
    ...(row.redrives > 0 ? [['sent again', `${row.redrives} times`] as const] : []),
    ...(row.accepted.length > 0 ? [['accepted by', row.accepted.join(', ')] as const] : []),
    ...optional('failure', row.failure),
    ...row.history.map(act),
  ]
}

function handlerFields(entry: EventView['handlers'][number]): readonly Field[] {
  const { name, status, attempts, failure, due, history } = entry
  return [
    ['handler', name],
    ['  status', status],
    ['  attempts', String(attempts)],
    ...(status === 'failed' ? [['  next try', time(due)] as const] : []),
    ...(failure === undefined ? [] : [['  failure', failure] as const]),
    ...history.map((one): Field => [`  ${act(one)[0]}`, act(one)[1]]),
  ]
}

function act({ action, at, by, reason }: NonNullable<EventView['row']>['history'][number]): Field {
  return [action, `${time(at)} by ${by}${reason === undefined ? '' : `: ${reason}`}`]
}
