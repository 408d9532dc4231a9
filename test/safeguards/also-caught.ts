import { readFile, writeFile } from 'node:fs/promises'
import type { Safeguard } from './safeguard.ts'
import { SAFEGUARDS } from './safeguards.ts'

/** What else catches the removal of a safeguard, besides its own test: the model tests, or a run of the fault rig. */
export type AlsoCaught = {
  readonly by: 'model' | 'rig'
  /** The model test that fails, or the options of the run and what it counts. */
  readonly how: string
}

const FILE = new URL('also-caught.json', import.meta.url)

/** As it was found last, by the name of the safeguard: `--by-model` and `--by-rig` look anew. */
export async function readAlsoCaught(): Promise<ReadonlyMap<string, AlsoCaught>> {
  return new Map(Object.entries(JSON.parse(await readFile(FILE, 'utf8')) as Record<string, AlsoCaught>))
}

/** Keeps what was found, in the order of the safeguards. */
export async function writeAlsoCaught(found: ReadonlyMap<string, AlsoCaught>): Promise<void> {
  const entries = SAFEGUARDS.flatMap(({ name }: Safeguard) => {
    const caught = found.get(name)
    return caught === undefined ? [] : [[name, caught] as const]
  })
  await writeFile(FILE, `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`)
}
