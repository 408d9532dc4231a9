import { afterAll, beforeAll, expect, it } from 'vitest'
import { EXIT } from '../../src/cli/io.ts'
import { connectCommand, runCommand } from '../support/command-line.ts'
import { type Operated, openOperated } from '../support/operated.ts'
import { relayedRow, unorderedRow } from '../support/outbox-rows.ts'

let world: Operated
let where: readonly string[]
beforeAll(async () => {
  world = await openOperated()
  where = await connectCommand(world.system)
  for (const key of ['k1', 'k2']) await world.putRow(relayedRow(unorderedRow(key, { source: 'test' })))
  await world.putRow(unorderedRow('k3', { source: 'test' }))
})
afterAll(() => world.aws.stop())

const run = (...argv: readonly string[]) => runCommand(['replay', ...argv, ...where])
const COUNT = ['--source', 'test', '--handler', 'stats/count']

it('says what it would read, counts if told to, and replays only with --yes, once', async () => {
  const first = await run(...COUNT)
  expect(first).toMatchObject({ code: EXIT.ok, err: '' })
  expect(first.out).toMatch(
    /reads the whole table once: about \d+ rows?, \d+ KB, .* read\s+units?, [^$]*\$0\.01.*\nNothing was read yet/s,
  )
  expect(first.out).toMatch(/--scan .*\n.*--yes /)
  const plan = JSON.parse((await run(...COUNT, '--json')).out)
  expect(plan).toMatchObject({ replayed: 0, whole: false, estimate: { readUnits: expect.any(Number) } })
  const counted = await run(...COUNT, '--scan')
  expect(counted.err).toMatch(/^Reading the whole table: about \d+ rows?, .*\.\n$/)
  expect(counted.out).toContain('2 events would be replayed; 1 left alone')
  const done = await run(...COUNT, '--yes', '--json')
  expect(JSON.parse(done.out)).toMatchObject({ replayed: 2, left: 1, whole: true })
  expect(await run(...COUNT, '--yes')).toMatchObject({
    code: EXIT.incomplete,
    out: expect.stringContaining('Add --again'),
  })
})

it('takes the events of a type and a time', async () => {
  const scan = async (...argv: readonly string[]) => JSON.parse((await run(...COUNT, '--scan', '--json', ...argv)).out)
  expect(await scan('--type', 'nothing')).toMatchObject({ replayed: 0, left: 0 })
  expect(await scan('--from', '2030-01-01', '--to', '2031-01-01')).toMatchObject({ replayed: 0, left: 0 })
})

it.each<[string, readonly string[], RegExp]>([
  ['no handler', ['--source', 'test'], /--handler/],
  ['a handler without its consumer', ['--source', 'test', '--handler', 'count', '--yes'], /consumer\/handler/],
  ['a time that is none', [...COUNT, '--from', 'yesterday'], /--from must be a date/],
  ['a rate that is none', [...COUNT, '--per-second', '0'], /--per-second must be/],
])('refuses %s in one line', async (_, argv, says) => {
  const { code, err } = await run(...argv)
  expect(code).toBe(EXIT.refused)
  expect(err).toMatch(says)
  expect(err.trim().split('\n')).toHaveLength(1)
})
