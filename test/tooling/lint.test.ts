import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')

type Diagnostic = { readonly category: string; readonly message: string; readonly location: { readonly path: string } }

/** Files that break one rule each, and what the linter must say of them. */
const BAD: ReadonlyArray<{ breaks: string; path: string; text: string; says: RegExp }> = [
  layer('event', '../outbox/row.ts'),
  layer('event', '../testing/deeper/records.ts'),
  layer('outbox', '../relay/publisher.ts'),
  layer('outbox', '../consumer/consumer.ts'),
  layer('relay', '../consumer/consumer.ts'),
  layer('relay', '../ledger/ledger.ts'),
  layer('relay', '../ops/status.ts'),
  layer('ledger', '../relay/publisher.ts'),
  layer('ledger', '../consumer/consumer.ts'),
  layer('consumer', '../relay/publisher.ts'),
  layer('consumer', '../ops/status.ts'),
  layer('ops', '../testing/start-local-aws.ts'),
  layer('testing', '../cli/main.ts'),
  layer('cli', '../../functions/relay.ts'),
  outside('cdk', '../src/relay/publisher.ts'),
  outside('functions', '../cdk/index.ts'),
  {
    breaks: 'a file at the root of src imports a folder',
    path: 'src/root-imports-folder.ts',
    text: `import type { Event } from './event/event.ts'\nexport type Again = Event\n`,
    says: /at the root of src imports no folder/,
  },
  {
    breaks: 'the main entry exports a folder that has an entry of its own',
    path: 'src/index.ts',
    text: `export { createRelay } from './relay/relay.ts'\n`,
    says: /main entry exports event and outbox/,
  },
  {
    breaks: 'an index file is imported inside',
    path: 'src/relay/imports-index.ts',
    text: `import { a } from '../outbox/index.ts'\nexport const b = a\n`,
    says: /never an index file/,
  },
  {
    breaks: 'two files import each other',
    path: 'src/event/cycle-a.ts',
    text: `import { b } from './cycle-b.ts'\nexport const a = () => b\n`,
    says: /import cycle|part of a cycle/i,
  },
  {
    breaks: 'two files import types of each other',
    path: 'src/event/type-cycle-a.ts',
    text: `import type { B } from './type-cycle-b.ts'\nexport type A = { b?: B }\n`,
    says: /import cycle|part of a cycle/i,
  },
  aws('a value', `import { SQSClient } from '@aws-sdk/client-sqs'\nexport const client = () => new SQSClient()\n`),
  aws('a namespace', `import * as sqs from '@aws-sdk/client-sqs'\nexport const client = () => new sqs.SQSClient()\n`),
  aws('a re-export', `export { SQSClient } from '@aws-sdk/client-sqs'\n`),
  aws('a dynamic import', `export const load = () => import('@aws-sdk/client-sqs')\n`),
  clock('now', 'Date.now()'),
  clock('new-date', 'new Date()'),
  clock('random', 'Math.random()'),
  clock('uuid', 'crypto.randomUUID()'),
  clock('timer', 'setTimeout(() => {}, 5)'),
  shipped('import-meta', 'export const here = () => import.meta.url\n', /No import\.meta/),
  shipped('top-level-await', `export const page = await fetch('https://example.com')\n`, /No top-level await/),
  shipped('module-state', 'let counter = 0\nexport const next = () => ++counter\n', /No module state/),
  shipped(
    'instanceof-own-error',
    `import { OutboxError } from '../errors.ts'\nexport const own = (e: unknown) => e instanceof OutboxError\n`,
    /never by instanceof/,
  ),
  shipped(
    'double-assertion',
    'export const cast = (x: object) => x as unknown as string\n',
    /double assertion hides a type error/,
  ),
  shipped('any', 'export const f = (x: any) => x\n', /any/),
  shipped('non-null', 'export const f = (x: string[]) => x[0]!.length\n', /non-null assertion/),
  shipped('default-export', 'export default 1\n', /default export/i),
  shipped('NotKebab', 'export const a = 1\n', /kebab-case/),
  shipped('no-extension', `export { OutboxError } from '../errors'\n`, /file extension/),
  shipped(
    'test-only-package',
    `import type { SQSEvent } from 'aws-lambda'\nexport type E = SQSEvent\n`,
    /no test-only package/,
  ),
  shipped('dev-dependency', `import { build } from 'tsdown'\nexport const b = build\n`, /isn't specified/),
  shipped('too-long', `export const lines = [\n${'  1,\n'.repeat(299)}]\n`, /lines/),
  shipped('four-parameters', 'export const f = (a: 1, b: 2, c: 3, d: 4) => [a, b, c, d]\n', /parameters/),
  shipped('barrel', `export * from '../errors.ts'\n`, /barrel/),
  {
    breaks: 'a test runs alone',
    path: 'test/focused.test.ts',
    text: `import { it } from 'vitest'\nit.only('works', () => {})\n`,
    says: /focus/i,
  },
]

/** Files that come close, and about which the linter must say nothing. */
const GOOD: Readonly<Record<string, string>> = {
  'src/event/identity.ts': `import { OutboxError } from '../errors.ts'\nexport const a = () => new OutboxError()\n`,
  'src/outbox/row.ts': `import { a } from '../event/identity.ts'\nexport const row = () => a()\n`,
  'src/relay/sqs-publisher.ts': `import { SQSClient } from '@aws-sdk/client-sqs'\nexport const client = () => new SQSClient()\n`,
  'src/ledger/dynamo-ledger.ts': `import { DynamoDBClient } from '@aws-sdk/client-dynamodb'\nexport const client = () => new DynamoDBClient()\n`,
  'src/consumer/client-type.ts': `import type { SQSClient } from '@aws-sdk/client-sqs'\nexport type Client = SQSClient\n`,
  'src/clock.ts': 'export const systemClock = { now: Date.now, random: Math.random }\n',
  'src/consumer/awaits.ts': `
    export async function wait(what: Promise<void>, at: number): Promise<Date> {
      let waited = new Date(at)
      await what
      if (waited.getTime() > 5) waited = new Date(5)
      return waited
    }
  `,
  'src/relay/index.ts': `export { client } from './sqs-publisher.ts'\n`,
}

let folder: string
let diagnostics: readonly Diagnostic[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'outbox-lint-'))
  for (const name of ['biome.json', 'package.json', 'lint']) {
    await cp(join(root, name), join(folder, name), { recursive: true })
  }
  await put('src/errors.ts', 'export class OutboxError extends Error {}\n')
  await put('src/event/cycle-b.ts', `import { a } from './cycle-a.ts'\nexport const b = () => a\n`)
  await put('src/event/type-cycle-b.ts', `import type { A } from './type-cycle-a.ts'\nexport type B = { a?: A }\n`)
  for (const { path, text } of BAD) await put(path, text)
  for (const [path, text] of Object.entries(GOOD)) await put(path, text)
  diagnostics = await lint()
})

afterAll(() => rm(folder, { recursive: true, force: true }))

it.each(BAD)('refuses it when $breaks', ({ path, says }) => {
  const messages = diagnostics.filter((found) => found.location.path === path).map(({ message }) => message)
  expect(messages).toContainEqual(expect.stringMatching(says))
})

it.each(Object.keys(GOOD))('has nothing against %s', (path) => {
  expect(diagnostics.filter((found) => found.location.path === path)).toEqual([])
})

function layer(from: string, target: string) {
  const name = target.replaceAll(/[^a-z]+/g, '-').replace(/^-|-ts$/g, '')
  return {
    breaks: `src/${from} imports ${target}`,
    path: `src/${from}/${name}.ts`,
    text: `import type { Something } from '${target}'\nexport type Again = Something\n`,
    says: new RegExp(`src/${from} imports only`),
  }
}

function outside(folder: string, target: string) {
  const text = `import type { Something } from '${target}'\nexport type Again = Something\n`
  return {
    breaks: `${folder} imports ${target}`,
    path: `${folder}/imports.ts`,
    text,
    says: new RegExp(`${folder} imports only`),
  }
}

function aws(what: string, text: string) {
  const path = `src/consumer/${what.replaceAll(' ', '-')}.ts`
  return { breaks: `${what} of the AWS SDK stands in a file not named for it`, path, text, says: /AWS SDK values/ }
}

function clock(name: string, expression: string) {
  const text = `export const read = () => ${expression}\n`
  return { breaks: `src reads ${expression}`, path: `src/outbox/clock-${name}.ts`, text, says: /injected Clock/ }
}

function shipped(name: string, text: string, says: RegExp) {
  return { breaks: `shipped code has ${name}`, path: `src/outbox/${name}.ts`, text, says }
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

/** Biome exits with 1 when it finds something: its answer counts, not its exit code. */
function lint(): Promise<readonly Diagnostic[]> {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const args = [biome, 'lint', '--reporter=json', '--max-diagnostics=none', '--vcs-enabled=false', '.']
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (stdout === '') reject(error ?? new Error(stderr))
      else resolve((JSON.parse(stdout) as { diagnostics: readonly Diagnostic[] }).diagnostics)
    })
  })
}
