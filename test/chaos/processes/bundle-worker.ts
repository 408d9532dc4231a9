import { join } from 'node:path'
import { build } from 'esbuild'

/** Bundles the process's program once into a folder, so that each start reads one file. Gives its path. */
export async function bundleWorker(folder: string): Promise<string> {
  const outfile = join(folder, 'worker.cjs')
  await build({
    entryPoints: [join(import.meta.dirname, '../worker/main.ts')],
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node22',
    mainFields: ['module', 'main'],
    minify: true,
    logLevel: 'warning',
  })
  return outfile
}
