import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './root.ts'
import type { World } from './world.ts'

/** One line of the run. A step fails by throwing; what it returns is printed behind its title. */
export type Step = {
  readonly title: string
  /** Where the emulator does otherwise than AWS, and which strict tests cover AWS. Printed on the emulator only. */
  readonly differs?: { readonly how: string; readonly tests: readonly string[] }
  /** Only on an emulator, or any endpoint that is not AWS. */
  readonly emulatorOnly?: boolean
  readonly run: (world: World) => Promise<string | undefined>
}

/** Runs the steps in turn, a line each with its time. Throws what the first failing step throws. */
export async function runSteps(world: World, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (step.emulatorOnly === true && !world.target.isEmulator) continue
    await runStep(world, step)
  }
}

export async function runStep(world: World, { title, differs, run }: Step): Promise<void> {
  const started = performance.now()
  try {
    const found = await run(world)
    say('ok  ', started, found === undefined ? title : `${title}: ${found}`)
    if (differs !== undefined && world.target.isEmulator) sayDifference(differs)
  } catch (error) {
    say('FAIL', started, title)
    throw error
  }
}

function sayDifference({ how, tests }: NonNullable<Step['differs']>): void {
  for (const file of tests) assert(existsSync(join(ROOT, file)), `${file}, which should cover AWS, is gone`)
  process.stdout.write(`                (emulator: ${how}; AWS: ${tests.join(', ')})\n`)
}

function say(outcome: string, started: number, text: string): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6)
  process.stdout.write(`${outcome} ${seconds} s  ${text}\n`)
}
