import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Bundles relay and sweeper as they are now into a folder; answers with what the build printed. */
export async function bundleFunctions(out: string): Promise<string> {
  const script = join(import.meta.dirname, '../../functions/build.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [script, '--out', out])
  return stdout
}
