import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

/** As `cdk init` sets a new app up: strict, but an optional property may be undefined. */
const CONFIG = {
  extends: join(ROOT, 'tsconfig.json'),
  compilerOptions: {
    exactOptionalPropertyTypes: false,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    paths: {
      'dynamodb-outbox/cdk': [join(ROOT, 'cdk/index.ts')],
      'dynamodb-outbox/consumer': [join(ROOT, 'src/consumer/index.ts')],
    },
  },
  include: ['*.ts'],
}

it('the examples of docs/deploy.md compile as they are printed', { timeout: 60_000 }, async () => {
  const text = await readFile(join(ROOT, 'docs/deploy.md'), 'utf8')
  const examples = [...text.matchAll(/^```ts\n\/\/ (\S+\.ts)\n(.*?)^```$/gms)]
  expect(examples).toHaveLength(text.match(/^```ts$/gm)?.length ?? 0)
  const folder = await mkdtemp(join(ROOT, 'node_modules/.docs-'))
  try {
    for (const [, name = '', code = ''] of examples) await writeFile(join(folder, name), code)
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG))
    const compile = promisify(execFile)(process.execPath, [
      join(ROOT, 'node_modules/typescript/bin/tsc'),
      ...['-p', folder, '--pretty', 'false'],
    ])
    await expect(compile.catch((error: { stdout: string }) => ({ stdout: error.stdout }))).resolves.toMatchObject({
      stdout: '',
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
