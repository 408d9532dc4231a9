import { parseArgs } from 'node:util'
import type { Breach } from './audit/books.ts'
import { openRig, type Rig } from './open-rig.ts'
import { createProgress } from './progress.ts'
import { figuresOf, renderResult } from './report.ts'
import { type RigResult, runRig } from './rig.ts'
import { traceOf } from './trace.ts'

/**
 * `npm run chaos [-- --seconds N] [--seed S] [--speed X] [--json]`: writers, relay, sweeper, consumers and an operator as
 * processes of their own on embedded engines, under faults, kills and wrong clocks, all from the seed. Then everything is
 * drained, and what is stored is audited. Exit 1 if an event was lost, doubled, reordered, dead without its attempts, or
 * stuck, or if nothing happened.
 */

/** Breaches whose trace is printed. */
const TRACED = 5

async function main(): Promise<void> {
  const { seconds, seed, speed, json } = readArguments()
  const rig = await openRig({ seed, speed })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void rig.close().finally(() => process.exit(1)))
  try {
    process.exitCode = await report(rig, { seconds, seed, json })
  } finally {
    await rig.close()
  }
}

type Run = { readonly seconds: number; readonly seed: number; readonly json: boolean }

/** Gives the exit code. */
async function report(rig: Rig, { seconds, seed, json }: Run): Promise<0 | 1> {
  const progress = createProgress(seconds)
  const result = await runRig(rig, { seconds, onProgress: progress.show }).finally(progress.end)
  const figures = figuresOf(result, seed)
  if (!json) process.stdout.write(renderResult(result, figures))
  await tellBreaches(rig, result, seed)
  if (json) process.stdout.write(`${JSON.stringify(figures)}\n`)
  // A run in which nothing happened proves nothing.
  return result.breaches.length === 0 && figures.events > 0 && figures.kills > 0 ? 0 : 1
}

async function tellBreaches({ layer }: Rig, result: RigResult, seed: number): Promise<void> {
  const { breaches } = result
  if (breaches.length === 0) return
  const lines = [
    `THE PROMISE BROKE in ${breaches.length} places. Repeat it with --seed ${seed}.`,
    ...breaches.map(describe),
  ]
  for (const breach of breaches.slice(0, TRACED))
    lines.push('', describe(breach), ...(await traceOf(result, layer, breach)))
  process.stderr.write(`${lines.join('\n')}\n`)
}

function describe({ kind, what, id = '', tx = '' }: Breach): string {
  return [kind, id, tx, what].filter((part) => part !== '').join('  ')
}

function readArguments(): Run & { readonly speed: number | undefined } {
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
