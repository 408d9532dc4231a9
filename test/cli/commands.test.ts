import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXIT } from '../../src/cli/io.ts'
import { eventId } from '../../src/event/identity.ts'
import { proves } from '../cases.ts'
import { connectCommand, runCommand } from '../support/command-line.ts'
import { bodyOf, identityOf } from '../support/consumer-kit.ts'
import { deadAs, type Operated, openOperated } from '../support/operated.ts'
import { orderedRow, relayedRow, unorderedRow } from '../support/outbox-rows.ts'

let world: Operated
let where: readonly string[]
beforeAll(async () => {
  world = await openOperated()
  where = await connectCommand(world.system)
  await world.die({ n: 1 }, 'shop/send-confirmation-mail', FULL)
  await world.die({ n: 2 }, 'shop/send-confirmation-mail', FULL.replace('17', '18'))
  await world.die({ n: 3, group: 'customer-9' }, 'shop/reserve-stock', 'Error: no stock')
  await world.putRow(deadAs(unorderedRow('k4', { source: 'test' }), 'InvalidMessageContents'))
  await world.putRow(orderedRow('customer-9', 7, { created: world.aws.clock.now() - 600_000 }))
  await world.putRow(relayedRow(unorderedRow('k1', { source: 'test', body: bodyOf({ n: 1, data: 'confidential' }) })))
})
afterAll(() => world.aws.stop())

const FULL = 'Error: the mailbox of customer-17 is full, says the provider of the mail service in its answer 552'
const idOf = (n: number) => eventId(identityOf({ n }))
const run = (...argv: readonly string[]) => runCommand([...argv, ...where])
const parsed = async (...argv: readonly string[]) => JSON.parse((await run(...argv, '--json')).out)
const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length))

describe('what is looked at', () => {
  it('status says how things stand and what needs a look', async () => {
    const { code, out } = await run('status')
    expect(code).toBe(EXIT.incomplete)
    expect(out).toMatch(/pending +1 row, the oldest 10 min/)
    expect(out).toMatch(/dead +1 row/)
    expect(out).toContain('! 3 dead letters: see `dynamodb-outbox dead-letters`')
    expect(out).toContain('! the sweeper has never run')
    expect(widest(out)).toBeLessThanOrEqual(80)
    expect(await parsed('status')).toMatchObject({ pending: { count: 1 }, dead: { count: 1 } })
  })

  it('dead-letters shows each cause once, in 80 columns', proves('operate-dead-letters'), async () => {
    const { code, out } = await run('dead-letters')
    expect(code).toBe(EXIT.incomplete)
    expect(out).toMatch(/2 +│ shop\/send-confirmation-mail/)
    expect(out).toContain('4 dead letters of 3 causes.')
    expect(widest(out)).toBeLessThanOrEqual(80)
    const { groups, total } = await parsed('dead-letters', '--handler', 'shop/reserve-stock')
    expect([groups, total]).toEqual([[expect.objectContaining({ failure: 'Error: no stock', count: 1 })], 1])
    const each = await run('dead-letters', '--each', '--failure', 'mailbox')
    expect(each.out.match(/shop\/send-/g)).toHaveLength(2)
    expect(widest(each.out)).toBeLessThanOrEqual(80)
  })

  it('show tells all of an event by a part of its id, or by source and key; data only if asked', async () => {
    const { code, out } = await run('show', idOf(1).slice(0, 8))
    expect(code).toBe(EXIT.ok)
    expect(out).toContain(idOf(1))
    expect(out).toMatch(/status +dead/)
    expect(out.replaceAll(/\n +/g, ' ')).toContain(FULL)
    expect(widest(out)).toBeLessThanOrEqual(80)
    expect(out).not.toContain('confidential')
    expect((await run('show', 'test', 'k1', '--data')).out).toContain('confidential')
    expect(await parsed('show', 'shop', 'customer-9 7')).toMatchObject({
      row: { state: 'pending', group: 'customer-9' },
    })
    expect((await run('show', 'test', 'k4')).out).toMatch(/failure +InvalidMessageContents/)
  })

  it('list shows rows of a state, and scans only if told to, saying what that reads', async () => {
    const { out } = await run('list', '--state', 'pending')
    expect(out).toContain('1 row.')
    expect(widest(out)).toBeLessThanOrEqual(80)
    expect(await run('list', '--state', 'relayed')).toMatchObject({
      code: EXIT.refused,
      err: expect.stringContaining('--scan'),
    })
    const scanned = await run('list', '--state', 'relayed', '--scan')
    expect(scanned.err).toMatch(/Reading the whole table: about/)
    expect(scanned.out).toContain('k1')
    expect(await parsed('list', '--state', 'dead')).toMatchObject({ rows: [{ key: 'k4' }], more: false })
  })
})

describe('bad input', () => {
  it.each<[string, readonly string[], RegExp]>([
    ['an unknown id', ['show', 'abcdef01'], /no .*id that begins so/i],
    ['an event that there is not', ['show', 'test', 'nothing'], /no such event/i],
    ['nothing selected', ['redrive'], /say which/i],
    ['no reason', ['discard', '--all'], /--reason/],
    ['an unknown state', ['list', '--state', 'lost'], /--state must be one of/],
    ['an unknown option', ['status', '--frob'], /unknown option/],
    ['an unknown command', ['frobnicate'], /unknown command/],
    ['a missing argument', ['show'], /missing required argument/],
    ['a wrong interval', ['status', '--watch', 'often'], /--watch/],
  ])('%s: what to do in one line, exit code 2, and no stack trace', async (_, argv, message) => {
    const { code, out, err } = await run(...argv)
    expect(code).toBe(EXIT.refused)
    expect(err).toMatch(message)
    expect(err).toMatch(/^error: /)
    expect(
      err
        .trim()
        .split('\n')
        .filter((line) => !line.startsWith('(')),
    ).toHaveLength(1)
    expect(err).not.toMatch(/\n\s+at /)
    expect(out).toBe('')
  })

  it('a table that is not there, and a consumer that is no consumer', async () => {
    const wrong = await runCommand(['status', '--outbox-table', 'no-such-table'])
    expect(wrong).toMatchObject({ code: EXIT.refused, err: expect.stringMatching(/not there.*--system/s) })
    const consumer = await runCommand(['status', '--outbox-table', 'x', '--consumer', 'shop'])
    expect(consumer).toMatchObject({ code: EXIT.refused, err: expect.stringContaining('name=ledgerTable') })
  })

  it('a part of an id that is too short to be one', async () => {
    const { code, err } = await run('show', idOf(1).slice(0, 5))
    // Fewer than six characters are taken for somebody else's id.
    expect([code, err]).toEqual([EXIT.refused, expect.stringMatching(/no such event/i)])
  })
})

describe('help', () => {
  it.each([
    '',
    'status',
    'dead-letters',
    'show',
    'list',
    'redrive',
    'discard',
    'forget',
    'replay',
    'doctor',
    'install',
    'demo',
  ])('of "%s" fits 80 columns and has examples', async (name) => {
    const { code, out } = await runCommand(name === '' ? ['--help'] : [name, '--help'])
    expect(code).toBe(EXIT.ok)
    expect(out).toMatch(name === '' ? /Exit codes:/ : /Examples:\n {2}\$ dynamodb-outbox/)
    expect(widest(out)).toBeLessThanOrEqual(80)
  })

  it('of the version', async () => {
    expect(await runCommand(['--version'])).toMatchObject({ code: EXIT.ok, out: '1.2.3\n' })
  })
})

describe('what is changed', () => {
  it('redrive and discard do nothing without --yes, and then exactly what was selected', async () => {
    const dry = await run('redrive', '--handler', 'shop/send-confirmation-mail')
    expect(dry.out).toContain('2 dead letters would be redriven; 2 left alone. Add --yes to do it.')
    expect(widest(dry.out)).toBeLessThanOrEqual(80)
    expect(world.depths().queue.visible).toBe(0)
    const done = await run('redrive', '--handler', 'shop/send-confirmation-mail', '--yes', '--by', 'ann')
    expect([done.code, done.out]).toEqual([EXIT.ok, expect.stringContaining('2 dead letters redriven; 2 left alone.')])
    expect(world.depths().queue.visible).toBe(2)
    expect(await world.entry({ n: 1 }, 'shop/send-confirmation-mail')).toMatchObject({ history: [{ by: 'ann' }] })
    const discarded = await run(
      'discard',
      eventId({ source: 'test', key: 'k4' }).slice(0, 10),
      '--reason',
      'a test',
      '--yes',
      '--json',
    )
    expect(JSON.parse(discarded.out)).toMatchObject({ done: 1, outcomes: [{ outcome: 'done', handler: 'relay' }] })
  })

  it('forget shows what it would remove, then removes it', async () => {
    const dry = await run('forget', 'test', 'k1')
    expect(dry.out).toContain('Add --yes to do it.')
    expect(await world.row({ source: 'test', key: 'k1' })).toHaveProperty('body')
    expect(await run('forget', 'test', 'k1', '--yes')).toMatchObject({
      code: EXIT.ok,
      out: expect.stringContaining('Row forgotten'),
    })
    expect(await world.row({ source: 'test', key: 'k1' })).not.toHaveProperty('body')
    expect(await run('forget', 'shop', 'customer-9 7', '--yes')).toMatchObject({ code: EXIT.refused })
  })

  it('ends with 130 when it is interrupted', async () => {
    const { code } = await runCommand(['dead-letters', ...where], {}, AbortSignal.abort())
    expect(code).toBe(EXIT.interrupted)
  })
})
