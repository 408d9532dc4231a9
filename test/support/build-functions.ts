import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')

/** Before all tests: makes the functions' bundles if nobody has built them yet, for what synthesises needs them. */
export async function setup(): Promise<void> {
  const built = ['relay', 'sweeper'].map((name) => access(join(ROOT, 'dist/functions', name, 'index.mjs')))
  await Promise.all(built).catch(() => bundleFunctions(join(ROOT, 'dist/functions')))
}

/** Bundles the functions as they are now; answers with what the build printed. */
export async function bundleFunctions(out: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, 'functions/build.ts'), '--out', out])
  return stdout
}
