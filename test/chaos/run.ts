import { parseArgs } from 'node:util'
import type { Breach } from './audit/books.ts'
import { figuresOf, renderResult } from './report.ts'
import { type Progress, type RigResult, runRig } from './rig.ts'
import { traceOf } from './trace.ts'

/**
 * `npm run chaos [-- --seconds N] [--seed S] [--speed X] [--json]`: writers, relay, sweeper, consumers and an operator as processes of
 * their own on embedded engines, under faults, kills and wrong clocks, all from the seed. Then everything is drained, and
 * what is stored is audited. Exit 1 if an event was lost, doubled, reordered, dead without its attempts, or stuck.
 */

/** Breaches whose trace is printed. */
const TRACED = 5

async function main(): Promise<void> {
  const { seconds, seed, speed, json } = readArguments()
  const result = await runRig({ seconds, seed, speed, onProgress: progressTo(process.stderr) })
  const figures = figuresOf(result, seed)
  if (!json) process.stdout.write(renderResult(result, figures))
  await tell(result, seed)
  if (json) process.stdout.write(`${JSON.stringify(figures)}\n`)
  await result.close()
  // A run in which nothing happened proves nothing.
  process.exitCode = result.breaches.length === 0 && figures.events > 0 && figures.kills > 0 ? 0 : 1
}

async function tell(result: RigResult, seed: number): Promise<void> {
  const { breaches } = result
  if (breaches.length === 0) return
  const write = (text: string): void => void process.stderr.write(`${text}\n`)
  write(`THE PROMISE BROKE in ${breaches.length} places. Repeat it with --seed ${seed}.`)
  for (const breach of breaches) write(describe(breach))
  for (const breach of breaches.slice(0, TRACED))
    write([``, describe(breach), ...(await traceOf(result, breach))].join('\n'))
}

function describe({ kind, what, id = '', tx = '' }: Breach): string {
  return [kind, id, tx, what].filter((part) => part !== '').join('  ')
}

function progressTo(stream: NodeJS.WriteStream): (progress: Progress) => void {
  return ({ phase, written, kills, left, seconds }) =>
    void stream.write(
      `${seconds.toFixed(0)} s  ${phase}  ${written} events  ${kills} kills  ${left} messages under way\n`,
    )
}

function readArguments(): {
  readonly seconds: number
  readonly seed: number
  readonly speed: number | undefined
  readonly json: boolean
} {
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
