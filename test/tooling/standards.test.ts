import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import build from '../../tsdown.config.ts'

/** House rules that the linter does not know. */

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFile(join(ROOT, path), 'utf8')
const manifest = JSON.parse(await read('package.json')) as {
  version: string
  scripts: Record<string, string>
  exports: Record<string, unknown>
}

/** The library is the first of what is built. */
const [config] = build as unknown as readonly [{ readonly entry: Readonly<Record<string, string>> }]

it('README names only npm scripts that exist', async () => {
  const named = [...(await read('README.md')).matchAll(/npm (?:run )?(?!ci\b|install\b|i\b|run\b)([a-z][\w:-]*)/g)]
  const scripts = named.map(([, script]) => script)
  expect(scripts).toContain('test')
  expect(scripts.filter((script) => script !== undefined && !(script in manifest.scripts))).toEqual([])
})

it('every entry of the package is built from a file of its own', async () => {
  const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json')
  const built = Object.entries(config.entry).map(([name]) => (name === 'index' ? '.' : `./${name}`))
  expect(entries.toSorted()).toEqual(built.toSorted())
  await expect(Promise.all(Object.values(config.entry).map(read))).resolves.toHaveLength(entries.length)
})

it('the changelog has a section for the version', async () => {
  expect(await read('CHANGELOG.md')).toContain(`## [${manifest.version}]`)
})

it('the lock file names no host to download from', async () => {
  expect(await read('package-lock.json')).not.toContain('"resolved"')
})

it('no test waits for a fixed time of the real clock', async () => {
  expect(
    await linesLike(['test/**/*.ts'], /setTimeout\(\w+, *\d{3,}\)|(?<![.\w])(?:sleep|delay|setTimeout)\(\d{3,}\)/),
  ).toEqual([])
})

it('nothing shipped is marked as unfinished', async () => {
  expect(
    await linesLike(['src/**/*.ts', 'functions/**/*.ts', 'cdk/**/*.ts'], /\b(?:TODO|FIXME|XXX)\b|not implemented/i),
  ).toEqual([])
})

async function linesLike(patterns: readonly string[], pattern: RegExp): Promise<string[]> {
  const found: string[] = []
  for await (const file of glob([...patterns], { cwd: ROOT })) {
    const lines = (await read(file)).split('\n')
    for (const [index, line] of lines.entries())
      if (pattern.test(line)) found.push(`${file}:${index + 1} ${line.trim()}`)
  }
  return found
}
