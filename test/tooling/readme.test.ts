import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import build from '../../tsdown.config.ts'

const ROOT = join(import.meta.dirname, '../..')

it.each(['README.md', 'docs/adopting.md'])(
  'the examples of %s compile as they are printed',
  async (file) => {
    const document = await readFile(join(ROOT, file), 'utf8')
    const examples = [...document.matchAll(/^```ts\n(?:\/\/ (\S+\.ts)\n)?(.*?)^```$/gms)].map(([, name, text]) => ({
      name,
      text,
    }))
    expect(examples.length).toBeGreaterThan(2)
    expect(examples.filter(({ name }) => name === undefined)).toEqual([])
    // Inside the project, so that the packages that the examples import are found.
    const folder = await mkdtemp(join(ROOT, 'node_modules/.readme-'))
    try {
      for (const { name = '', text = '' } of examples) await writeFile(join(folder, name), text)
      await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(await config()))
      expect(await compile(folder)).toBe('')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
  60_000,
)

/** The package's entries as they are in src, under this project's own strict settings. */
async function config(): Promise<object> {
  const { name } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { name: string }
  // The library is the first of what is built.
  const [{ entry }] = build as unknown as readonly [{ readonly entry: Readonly<Record<string, string>> }]
  const paths = Object.entries(entry).map(([of, file]) => [of === 'index' ? name : `${name}/${of}`, [join(ROOT, file)]])
  return {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: true,
      typeRoots: [join(ROOT, 'node_modules/@types')],
      paths: Object.fromEntries(paths),
    },
    include: ['*.ts'],
  }
}

/** What the compiler has to say: nothing, if all is well. */
function compile(folder: string): Promise<string> {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], { cwd: folder }, (error, stdout, stderr) => {
      resolve(stdout || stderr || (error === null ? '' : String(error)))
    })
  })
}
