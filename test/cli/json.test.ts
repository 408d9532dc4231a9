import { afterAll, beforeAll, expect, it } from 'vitest'
import { EXIT } from '../../src/cli/io.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { eventId } from '../../src/event/identity.ts'
import { connectCommand, runCommand } from '../support/command-line.ts'
import { bodyOf, identityOf } from '../support/consumer-kit.ts'
import { deadAs, type Operated, openOperated } from '../support/operated.ts'
import { relayedRow, unorderedRow } from '../support/outbox-rows.ts'

let world: Operated
let where: readonly string[]
beforeAll(async () => {
  world = await openOperated()
  where = await connectCommand(world.system)
  await world.die({ n: 1 }, 'shop/mail', 'Error: "full"\n\u001b[31m')
  await world.die({ n: 2 }, 'shop/mail', 'Error: full')
  await world.putRow(deadAs(unorderedRow('k4', { source: 'test' }), 'InvalidMessageContents'))
  await world.putRow(unorderedRow('k5', { source: 'test', extra: { failure: { S: '\u009b' } } }))
  await world.putRow(relayedRow(unorderedRow('k1', { source: 'test', body: bodyOf({ n: 1, data: 'a\u2028b' }) })))
})
afterAll(() => world.aws.stop())

const idOf = (n: number) => eventId(identityOf({ n }))
const WHY = ['--reason', 'a test']
const REPLAY = ['replay', '--source', 'test', '--handler', 'shop/count']

/** Dry runs first: what changes something comes last. `doctor` needs a deployment, and is run there. */
const COMMANDS: readonly (readonly string[])[] = [
  ['status'],
  ['status', '--pull-source', 'test'],
  ['dead-letters'],
  ['dead-letters', '--each'],
  ['dead-letters', '--handler', 'nobody/here'],
  ['show', idOf(1).slice(0, 8)],
  ['show', idOf(2), '--data'],
  ['show', 'test', 'k1', '--data'],
  ['list', '--state', 'pending'],
  ['list', '--state', 'dead'],
  ['list', '--state', 'relayed', '--scan'],
  ['redrive', '--all'],
  ['discard', '--handler', 'relay', ...WHY],
  ['forget', 'test', 'k1'],
  REPLAY,
  [...REPLAY, '--scan'],
  ['redrive', idOf(1), '--yes'],
  ['discard', '--all', '--yes', ...WHY],
  ['replay', '--source', 'test', '--handler', 'shop/count', '--yes'],
  ['forget', idOf(2), '--yes'],
]

it.each(COMMANDS.map((argv) => [argv.join(' '), argv] as const))(
  '%s --json prints one document, and nothing else',
  async (_, argv) => {
    const { code, out } = await runCommand([...argv, '--json', ...where])
    expect(code).not.toBe(EXIT.refused)
    expect(out).toMatch(/^\{[^\n]*\}\n$/)
    expect(JSON.parse(out)).toBeTypeOf('object')
    expect(out.trimEnd()).not.toMatch(/\p{Cc}/u)
  },
)

it('status --watch --json prints a document each time, until it is ended', async () => {
  const end = new AbortController()
  const documents: string[] = []
  const io = {
    out: (text: string) => {
      if (documents.push(text) === 2) end.abort()
    },
    err: () => {},
    env: {},
    isTerminal: false,
    columns: 80,
    signal: end.signal,
  }
  expect(await runCli(['status', '--watch', '1', '--json', ...where], io, '1.2.3')).toBe(EXIT.interrupted)
  expect(documents).toHaveLength(2)
  for (const document of documents) expect(JSON.parse(document)).toHaveProperty('pending')
})

it('with --json, what is refused is said on standard error all the same, and nothing is printed', async () => {
  const ran = await runCommand(['show', 'test', 'nothing', '--json', ...where])
  expect(ran).toEqual({ code: EXIT.refused, out: '', err: expect.stringMatching(/^error: .*\n$/) })
})

it('no control character of a failure or a body reaches a terminal', async () => {
  for (const argv of [
    ['dead-letters', '--each'],
    ['show', 'test', 'k5'],
    ['show', idOf(1)],
  ]) {
    const { out } = await runCommand([...argv, ...where])
    expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  }
})
