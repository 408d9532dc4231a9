import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { inPatchedCopy } from './patched-copy.ts'
import type { Safeguard } from './safeguard.ts'

/** How long and under which seeds the rig runs without a safeguard, until one run breaks the promise. */
export type RigRuns = { readonly seconds: number; readonly seeds: readonly number[] }

const BREACHES = ['lost', 'doubled', 'reordered', 'deadUnrun', 'stuck'] as const

/** What the rig counts without a safeguard, and how to see it again; undefined if all its runs end well. */
export async function caughtByRig(safeguard: Safeguard, { seconds, seeds }: RigRuns): Promise<string | undefined> {
  return inPatchedCopy(safeguard, async (copy) => {
    for (const seed of seeds) {
      const breaches = await breachesOf(copy, ['--json', '--seconds', String(seconds), '--seed', String(seed)])
      if (breaches !== '') return `--seconds ${seconds} --seed ${seed}: ${breaches}`
    }
    return undefined
  })
}

/** As `lost 3, stuck 1`; empty if there are none, or if the rig itself broke. */
async function breachesOf(cwd: string, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, ['test/chaos/run.ts', ...args], { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
  const last = (await text(child.stdout)).trimEnd().split('\n').at(-1) ?? ''
  if (!last.startsWith('{')) return ''
  const figures = JSON.parse(last) as Readonly<Record<string, number>>
  return BREACHES.flatMap((kind) => ((figures[kind] ?? 0) > 0 ? [`${kind} ${figures[kind]}`] : [])).join(', ')
}
