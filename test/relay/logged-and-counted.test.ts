import { describe, expect, it } from 'vitest'
import { eventId } from '../../src/event/identity.ts'
import type { PublishOutcome } from '../../src/relay/publisher.ts'
import { streamRecord } from '../../src/testing/records.ts'
import { deadRow, orderedRow, unorderedRow } from '../support/outbox-rows.ts'
import { createRelayWorld, numbered, type RelayWorld } from '../support/relay-world.ts'

/** What whoever is called at night finds in metrics and log. */

const told = ({ counts, log }: RelayWorld) => ({ counts: Object.fromEntries(counts), log })
const line = (level: string, message: string, fields: object) => ({ level, message, fields })

const failing = (names: readonly ('readRows' | 'readGroup' | 'readIndex' | 'markRelayed')[]) => {
  const world = createRelayWorld()
  for (const name of names) world.store.fail(name)
  return world
}

describe('metrics and log of the relay tell', () => {
  it('what was sent and marked, without a line', async () => {
    const world = createRelayWorld()
    await world.relay([unorderedRow('a'), orderedRow('g', 1)])
    expect(told(world)).toEqual({ counts: { sent: 2, relayed: 2 }, log: [] })
  })

  it('that a row was malformed, and that another is newer than this code', async () => {
    const world = createRelayWorld()
    await world.relay([unorderedRow('a', { body: '' }), unorderedRow('b', { extra: { v: { N: '2' } } })])
    expect(told(world)).toEqual({
      counts: { malformedRows: 1, newerRows: 1, deadRows: 1, leftToSweeper: 1 },
      log: [line('error', 'row dead-lettered', { reason: 'malformed: `body` is missing, empty or no text' })],
    })
  })

  it('that nobody takes a row', async () => {
    const world = createRelayWorld({ routes: (queue) => [{ to: queue, type: 'another' }] })
    await world.relay([unorderedRow('a'), orderedRow('g', 1)])
    expect(told(world)).toEqual({ counts: { unroutedRows: 2, leftToSweeper: 2 }, log: [] })
  })

  it('that a destination does not answer', async () => {
    const world = createRelayWorld()
    world.queue.outage = 'AccessDenied'
    const rows = [unorderedRow('a'), unorderedRow('b'), orderedRow('g', 1), orderedRow('g', 2)]
    expect(await world.relay(rows)).toEqual([1, 2, 3, 4].map(numbered))
    expect(told(world)).toEqual({
      counts: { sendFailed: 3 },
      log: [
        line('warn', 'destination does not answer: paused for this run', {
          destination: 'queue',
          reason: 'AccessDenied',
        }),
        line('warn', 'entries not accepted', { destination: 'queue', entries: 3, reasons: ['AccessDenied'] }),
      ],
    })
  })

  it('that entries keep failing, and how many rows that leaves', async () => {
    const world = createRelayWorld()
    world.queue.fails = ({ groupId }) => (groupId === 'shop/g' ? 'InternalError' : undefined)
    await world.relay([unorderedRow('a'), unorderedRow('b'), orderedRow('g', 1), orderedRow('g', 2)])
    expect(told(world)).toEqual({
      counts: { sent: 2, sendFailed: 1, relayed: 2, leftToSweeper: 2 },
      log: [line('warn', 'entries not accepted', { destination: 'queue', entries: 1, reasons: ['InternalError'] })],
    })
  })

  it('that a row was refused for its content, by the id of its event', async () => {
    const world = createRelayWorld()
    world.queue.refuses = () => 'InvalidMessageContents'
    await world.relay([unorderedRow('a')])
    const id = eventId({ source: 'shop', key: 'a' })
    expect(told(world)).toEqual({
      counts: { refused: 1, deadRows: 1 },
      log: [line('error', 'row dead-lettered', { id, reason: 'InvalidMessageContents' })],
    })
  })

  it('that such a row could not be dead-lettered', async () => {
    const world = createRelayWorld()
    world.queue.refuses = () => 'InvalidMessageContents'
    world.store.fail('deadLetter')
    await world.relay([unorderedRow('a')])
    expect(told(world)).toEqual({
      counts: { refused: 1, markFailed: 1, leftToSweeper: 1 },
      log: [line('warn', 'row could not be dead-lettered', { reason: 'Error' })],
    })
  })

  it('that marks failed, once a row and with a line for each try', async () => {
    const world = failing(['markRelayed'])
    await world.relay([unorderedRow('a'), unorderedRow('b')])
    expect(told(world)).toEqual({
      counts: { sent: 2, markFailed: 2 },
      log: Array(3).fill(line('warn', 'marks not answered', { marks: 2, reason: 'Error' })),
    })
  })

  it('that what one of two destinations took could not be noted', async () => {
    const refusing = async (messages: readonly unknown[]) =>
      messages.map((): PublishOutcome => ({ status: 'failed', reason: 'InternalError' }))
    const world = createRelayWorld({
      routes: (queue) => [{ to: queue }, { to: { ...queue, name: 'other', publish: refusing } }],
    })
    world.store.fail('addAccepted')
    await world.relay([unorderedRow('a')])
    expect(told(world)).toEqual({
      counts: { sent: 1, sendFailed: 1, markFailed: 1, leftToSweeper: 1 },
      log: [
        line('warn', 'entries not accepted', { destination: 'other', entries: 1, reasons: ['InternalError'] }),
        line('warn', 'acceptance could not be noted', { reason: 'Error' }),
      ],
    })
  })

  it('that the table cannot be read, and reports those records alone', async () => {
    const world = failing(['readGroup'])
    expect(await world.relay([orderedRow('g', 1), unorderedRow('a'), orderedRow('g', 2)])).toEqual([1, 3].map(numbered))
    expect(told(world)).toEqual({
      counts: { sent: 1, relayed: 1 },
      log: [line('warn', 'table could not be read', { records: 2, reason: 'Error' })],
    })
  })

  it('that records have no key, and reports none of them', async () => {
    const world = createRelayWorld()
    const odd = { newImage: { a: { S: 'x' } } as never, sequence: 1 }
    expect(await world.relayRecords([streamRecord(odd), streamRecord(odd)] as never)).toEqual([])
    expect(told(world)).toEqual({
      counts: { malformedRows: 2 },
      log: [line('error', 'stream records without a readable key', { records: 2 })],
    })
  })
})

describe('metrics and log of the sweeper tell', () => {
  it('that rows and groups cannot be read, and no heartbeat is written then', async () => {
    const world = failing(['readRows', 'readGroup'])
    world.store.put(unorderedRow('a', { created: 0, due: 1 }))
    world.store.put(orderedRow('g', 1, { created: 0, due: 1 }))
    world.store.put(deadRow(unorderedRow('d')))
    await expect(world.sweep()).rejects.toThrow('2 of 64 shards or groups could not be read; the next run tries again.')
    expect(told(world)).toEqual({
      counts: { pendingRows: 2, oldestPendingMs: 1_700_000_000_000, swept: 0 },
      log: [
        line('warn', 'rows could not be read', { rows: 1, reason: 'Error' }),
        line('warn', 'group could not be read', { reason: 'Error' }),
      ],
    })
    expect(world.store.calls.get('writeHeartbeat')).toBeUndefined()
  })

  it('that the index cannot be read, once for all shards', async () => {
    const world = failing(['readIndex'])
    await expect(world.sweep()).rejects.toThrow('64 of 64 shards or groups could not be read')
    expect(told(world)).toEqual({
      counts: { swept: 0 },
      log: [line('error', 'the index could not be read', { shards: 64, reasons: ['Error'] })],
    })
  })

  it('that the heartbeat is not written, and all the rest', async () => {
    const world = createRelayWorld()
    world.store.fail('writeHeartbeat')
    world.store.put(deadRow(unorderedRow('d')))
    expect(await world.sweep()).not.toHaveProperty('deadTotal')
    expect(told(world)).toEqual({
      counts: { pendingRows: 0, oldestPendingMs: 0, deadRowsTotal: 1, swept: 0 },
      log: [line('warn', 'heartbeat could not be written', { reason: 'Error' })],
    })
  })
})
