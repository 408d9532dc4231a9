import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Safeguard } from './safeguard.ts'

export const ROOT = new URL('../..', import.meta.url).pathname
const COPIED = ['src', 'functions', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts']

/** Looks at a copy of the project without one safeguard. Undefined if the patch does not apply. */
export async function inPatchedCopy<Found>(
  { file, find, replace }: Safeguard,
  look: (folder: string) => Promise<Found>,
): Promise<Found | undefined> {
  const copy = await mkdtemp(join(tmpdir(), 'safeguard-'))
  try {
    await Promise.all(COPIED.map((name) => cp(join(ROOT, name), join(copy, name), { recursive: true })))
    await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    const source = await readFile(join(copy, file), 'utf8')
    if (source.split(find).length !== 2) return undefined
    await writeFile(
      join(copy, file),
      source.replace(find, () => replace),
    )
    return await look(copy)
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}
