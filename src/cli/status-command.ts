import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import type { QueueDepth } from '../ops/sqs-queue-depth.ts'
import { type OutboxStatus, type RowCount, readStatus } from '../ops/status.ts'
import { systemCommand } from './command.ts'
import { EXIT, type ExitCode, type Io, printJson } from './io.ts'
import { count, duration, renderFields, time, wrap } from './render.ts'
import { renderTable } from './render-table.ts'
import { usageError } from './usage-error.ts'

/** The sweeper runs each minute: three missed runs are a fault. */
const SWEEPER_LATE_MS = 180_000

export function statusCommand(io: Io): Command {
  return systemCommand<{ readonly watch?: string | true }>(
    {
      name: 'status',
      summary: 'how the outbox stands: pending, dead, queues, sweeper (exit 1 if something needs a look)',
      examples: ['status', 'status --watch', 'status --json'],
    },
    io,
    async ({ system, options }) => {
      const every = options.watch === undefined ? undefined : interval(options.watch)
      for (;;) {
        const status = await readStatus(system)
        if (options.json) printJson(io, status)
        else io.out(renderStatus(status, system.outboxTable, io.columns))
        if (every === undefined) return verdict(status)
        await delay(every, undefined, { signal: io.signal }).catch(() => {})
        if (io.signal.aborted) return EXIT.interrupted
      }
    },
  ).option('--watch [seconds]', 'again and again, each 5 seconds unless said otherwise, until Ctrl-C')
}

function interval(given: string | true): number {
  const seconds = given === true ? 5 : Number(given)
  if (Number.isFinite(seconds) && seconds >= 1) return seconds * 1000
  throw usageError('--watch must be a number of seconds from 1.')
}

/** What a person should look at, in words; nothing if all is well. */
export function concerns({ dead, sweepers, consumers }: OutboxStatus): readonly string[] {
  const late = sweepers.filter(({ agoMs }) => agoMs > SWEEPER_LATE_MS)
  const letters = consumers.reduce((sum, { deadLetters }) => sum + deadLetters.visible + deadLetters.inFlight, 0)
  const unread = consumers.flatMap(({ queue, deadLetters }) => [queue, deadLetters]).filter((depth) => depth.unread)
  return [
    ...(sweepers.length === 0 ? ['the sweeper has never run: `dynamodb-outbox doctor` says why'] : []),
    ...late.map(
      ({ region, agoMs }) => `the sweeper of ${region} last ran ${duration(agoMs)} ago: see \`dynamodb-outbox doctor\``,
    ),
    ...(dead.count > 0 ? [`${count(dead.count, 'dead row')}: see \`dynamodb-outbox dead-letters\``] : []),
    ...(letters > 0 ? [`${count(letters, 'dead letter')}: see \`dynamodb-outbox dead-letters\``] : []),
    ...unread.map(({ queueUrl, unread = '' }) => `${nameOf(queueUrl)} cannot be read (${whyUnread(unread)})`),
  ]
}

function verdict(status: OutboxStatus): ExitCode {
  return concerns(status).length === 0 ? EXIT.ok : EXIT.incomplete
}

export function renderStatus(status: OutboxStatus, outboxTable: string, width: number): string {
  const { at, pending, pull, dead, sweepers, consumers } = status
  const fields: readonly (readonly [string, string])[] = [
    ['outbox table', outboxTable],
    ['at', time(at)],
    ['pending', rows(pending)],
    ...pull.map(({ source, ...waiting }): [string, string] => [`pull ${source}`, rows(waiting)]),
    ['dead', rows(dead)],
    ...sweepers.map(({ region, agoMs, pending: seen }): [string, string] => [
      `sweeper ${region}`,
      `ran ${duration(agoMs)} ago, saw ${count(seen, 'pending row')}`,
    ]),
  ]
  const queues = consumers.map(({ name, queue, deadLetters }) => [name, ...depth(queue), ...depth(deadLetters)])
  const columns = [
    { head: 'consumer', wide: true as const },
    ...['waiting', 'in flight', 'dead', 'held'].map((head) => ({ head, right: true as const })),
  ]
  const wrong = concerns(status)
  const words = wrong.length === 0 ? 'All is well.\n' : wrong.map((line) => `${wrap(`! ${line}`, width)}\n`).join('')
  return `${renderFields(fields, width)}${queues.length === 0 ? '' : renderTable(columns, queues, width)}${words}`
}

function rows({ count: amount, capped, oldestMs }: RowCount): string {
  const many = `${capped ? 'at least ' : ''}${count(amount, 'row')}`
  return oldestMs === undefined ? many : `${many}, the oldest ${duration(oldestMs)} old`
}

function depth({ visible, inFlight, unread }: QueueDepth): string[] {
  return unread === undefined ? [String(visible), String(inFlight)] : ['?', '?']
}

function whyUnread(name: string): string {
  return /AccessDenied/.test(name) ? 'missing permission: sqs:GetQueueAttributes' : name
}

function nameOf(queueUrl: string): string {
  return queueUrl.split('/').at(-1) ?? queueUrl
}
