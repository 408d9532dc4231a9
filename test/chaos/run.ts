import { parseArgs } from 'node:util'
import type { Breach } from './audit/books.ts'
import { createProgress } from './progress.ts'
import { figuresOf, renderResult } from './report.ts'
import type { TracedBreach } from './round.ts'
import { runRounds } from './rounds.ts'

/**
 * `npm run chaos [-- --seconds N] [--seed S] [--speed X] [--json]`: writers, relay, sweeper, consumers and an operator as
 * processes of their own on embedded engines, under faults, kills and wrong clocks, all from the seed. Then everything is
 * drained, and what is stored is audited. Exit 1 if an event was lost, doubled, reordered, dead without its attempts, or
 * stuck, or if nothing happened.
 */

async function main(): Promise<void> {
  const { seconds, seed, speed, json } = readArguments()
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort())
  const progress = createProgress(seconds)
  const run = runRounds({ seconds, seed, speed, onProgress: progress.show, signal: stopped.signal })
  const result = await run.finally(progress.end)
  // What was cut off still waits for this and that.
  if (stopped.signal.aborted) process.exit(1)
  const figures = figuresOf(result, seed)
  if (!json) process.stdout.write(renderResult(result, figures))
  const breaches = result.rounds.flatMap((round) => round.breaches)
  if (breaches.length > 0) process.stderr.write(renderBreaches(breaches, seed))
  if (json) process.stdout.write(`${JSON.stringify(figures)}\n`)
  // A run in which nothing happened proves nothing.
  process.exitCode = breaches.length === 0 && figures.events > 0 && figures.kills > 0 ? 0 : 1
}

function renderBreaches(breaches: readonly TracedBreach[], seed: number): string {
  const traces = breaches.filter(({ trace }) => trace.length > 0)
  return [
    `THE PROMISE BROKE in ${breaches.length} places. Repeat it with --seed ${seed}.`,
    ...breaches.map(describe),
    ...traces.flatMap((breach) => ['', describe(breach), ...breach.trace]),
    '',
  ].join('\n')
}

function describe({ kind, what, id = '', tx = '' }: Breach): string {
  return [kind, id, tx, what].filter((part) => part !== '').join('  ')
}

type Arguments = {
  readonly seconds: number
  readonly seed: number
  readonly speed: number | undefined
  readonly json: boolean
}

function readArguments(): Arguments {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '45' },
      seed: { type: 'string', default: '1' },
      speed: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const number = (name: 'seconds' | 'seed' | 'speed', min: number): number => {
    const value = Number(values[name])
    if (Number.isSafeInteger(value) && value >= min) return value
    throw new Error(`--${name} must be a whole number from ${min}.`)
  }
  return {
    seconds: number('seconds', 3),
    seed: number('seed', 0),
    speed: values.speed === undefined ? undefined : number('speed', 1),
    json: values.json,
  }
}

await main()
