import { describe, expect, it } from 'vitest'
import { eventId } from '../../src/event/identity.ts'
import { encodeLifeNote } from '../../src/event/life.ts'
import type { StreamRecord } from '../../src/relay/lambda-event.ts'
import type { RowImage } from '../../src/relay/row-image.ts'
import { proves } from '../cases.ts'
import { arrivals, createFakeQueue, type FakeQueue } from '../support/fake-queue.ts'
import { deadRow, orderedRow, relayedRow, sk, stateOf } from '../support/outbox-rows.ts'
import { createRelayWorld, numbered, type RelayWorld, records } from '../support/relay-world.ts'

const key = (sequence: number, group = 'g') => ({ pk: `G#shop/${group}`, sk: sk(sequence) })
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)
const states = (world: RelayWorld, sequences: readonly number[]) =>
  sequences.map((n) => stateOf(world.store.get(key(n))))

describe('the stream path, a group', () => {
  it('sends in the order of the table, however the records are shuffled', proves('records-shuffled'), async () => {
    const world = createRelayWorld()
    const rows = range(1, 60).map((n) => orderedRow('g', n))
    const shuffled = [...records(rows)].sort((a, b) => hash(a) - hash(b))
    for (const row of rows) world.store.put(row)
    expect(await world.relayRecords(shuffled)).toEqual([])
    expect(arrivals(world.queue, 'shop/g')).toEqual(range(1, 60))
    expect(new Set(states(world, range(1, 60)))).toEqual(new Set(['relayed']))
  })

  it('keeps 100 groups of ten rows in full requests, and their marks too', async () => {
    const world = createRelayWorld()
    const rows = range(1, 100).flatMap((group) => range(1, 10).map((n) => orderedRow(`g${group}`, n)))
    expect(await world.relay(rows)).toEqual([])
    expect(world.queue.requests.map((request) => request.length)).toEqual(Array(100).fill(10))
    expect(world.store.calls.get('markRelayed')).toBe(40)
    expect(world.store.calls.get('readGroup')).toBe(100)
    for (const group of range(1, 100)) expect(arrivals(world.queue, `shop/g${group}`)).toEqual(range(1, 10))
  })

  it('reads a small tail once, and sends rows whose records are still to come', async () => {
    const world = createRelayWorld()
    for (const n of range(1, 5)) world.store.put(relayedRow(orderedRow('g', n)))
    const rows = range(6, 9).map((n) => orderedRow('g', n))
    for (const row of rows) world.store.put(row)
    await world.relayRecords(records(rows.slice(3)))
    expect(arrivals(world.queue, 'shop/g')).toEqual([6, 7, 8, 9])
    expect(world.store.calls.get('readGroup')).toBe(1)
    expect(world.store.calls.get('readBefore')).toBeUndefined()
  })

  it('leaves a group whose pending tail begins too deep to the sweeper', async () => {
    const world = createRelayWorld()
    for (const n of range(1, 150)) world.store.put(orderedRow('g', n))
    expect(await world.relayRecords(records([orderedRow('g', 150)]))).toEqual([])
    expect(world.queue.requests).toEqual([])
    // 101 downward from the newest, 25 below the row itself.
    expect(world.store.rowsRead.get('readGroup')).toBe(101 + 25)
    expect(world.counts.get('leftToSweeper')).toBe(1)
  })

  it.each([
    { title: 'after a relayed row', first: 2, step: 1 },
    { title: 'of a new group', first: 1, step: 1 },
    { title: 'with numbers that lie apart', first: 20, step: 10 },
  ])('sends a burst $title batch by batch, though most of it stands above each batch', async ({ first, step }) => {
    const world = createRelayWorld()
    const numbers = range(0, 399).map((n) => first + n * step)
    if (first > 1) world.store.put(relayedRow(orderedRow('g', first - step)))
    const rows = numbers.map((n) => orderedRow('g', n))
    for (const row of rows) world.store.put(row)
    for (let at = 0; at < 400; at += 100)
      expect(await world.relayRecords(records(rows.slice(at, at + 100)))).toEqual([])
    expect(arrivals(world.queue, 'shop/g')).toEqual(numbers)
    expect(world.counts.get('leftToSweeper')).toBeUndefined()
    // Each batch: what was looked through in vain, the row below it, its own.
    expect(world.store.rowsRead.get('readGroup')).toBeLessThanOrEqual(4 * (200 + 25 + 125))
  })

  it.each([
    { title: 'was sent before', row: relayedRow(orderedRow('g', 2)) },
    { title: 'was redriven', row: orderedRow('g', 2, { redrives: 1 }) },
    {
      title: 'is replayed',
      row: orderedRow('g', 2, { extra: { note: { S: encodeLifeNote({ life: 5, handlers: ['a/b'] }) } } }),
    },
  ])('leaves a deep tail to the sweeper if the first row of the batch $title', async ({ row }) => {
    const world = createRelayWorld()
    world.store.put(relayedRow(orderedRow('g', 1)))
    world.store.put(row)
    const rows = range(3, 300).map((n) => orderedRow('g', n))
    for (const other of rows) world.store.put(other)
    expect(await world.relayRecords(records([orderedRow('g', 2), ...rows.slice(0, 50)]))).toEqual([])
    expect(world.queue.requests).toEqual([])
    expect(world.counts.get('leftToSweeper')).toBe(51)
  })

  it('sends what a fast writer has added before its records arrive, reading each row at most twice', async () => {
    const world = createRelayWorld()
    world.store.put(relayedRow(orderedRow('g', 1)))
    for (const n of range(2, 90)) world.store.put(orderedRow('g', n))
    expect(await world.relayRecords(records([orderedRow('g', 2)]))).toEqual([])
    expect(arrivals(world.queue, 'shop/g')).toEqual(range(2, 90))
    expect(world.store.rowsRead.get('readGroup')).toBeLessThanOrEqual(2 * 90)
    expect(world.counts.get('leftToSweeper')).toBeUndefined()
  })

  it('is not held up by a writer who is faster than the queue: it ends with the rows of its batch', async () => {
    const world: RelayWorld = createRelayWorld({
      routes: (queue) => [{ to: { ...queue, publish: (messages, signal) => fasterThan(queue, messages, signal) } }],
    })
    let written = 60
    const fasterThan = (queue: FakeQueue, ...sent: Parameters<FakeQueue['publish']>) => {
      world.store.put(orderedRow('g', ++written))
      world.store.put(orderedRow('g', ++written))
      return queue.publish(...sent)
    }
    const rows = range(1, 60).map((n) => orderedRow('g', n))
    expect(await world.relay(rows)).toEqual([])
    const sent = arrivals(world.queue, 'shop/g')
    expect(sent).toEqual(range(1, sent.length))
    expect(sent.length).toBeGreaterThanOrEqual(60)
    expect(sent.length).toBeLessThan(60 + 25)
  })

  it('holds few large rows at a time, and sends all of them in order', async () => {
    const world = createRelayWorld()
    const body = (n: number, length: number) => JSON.stringify({ of: `G#shop/g ${n}`, data: 'x'.repeat(length) })
    world.store.put(relayedRow(orderedRow('g', 1)))
    const rows = range(2, 25).map((n) => orderedRow('g', n, { body: body(n, n === 9 ? 390_000 : 100_000) }))
    expect(await world.relay(rows)).toEqual([])
    expect(arrivals(world.queue, 'shop/g')).toEqual(range(2, 25))
    // Each read shows 25 rows, of which at least two are held, or one of more than 256 KB.
    expect(world.store.calls.get('readGroup')).toBeLessThanOrEqual(14)
  })

  it('passes dead and relayed rows, and sends what follows them', async () => {
    const world = createRelayWorld()
    world.store.put(orderedRow('g', 1))
    world.store.put(deadRow(orderedRow('g', 2)))
    await world.relay([orderedRow('g', 3)])
    // Row 1 lies below a settled row: it was redriven, and is the sweeper's.
    expect(arrivals(world.queue, 'shop/g')).toEqual([3])
    expect(states(world, [1, 2, 3])).toEqual(['pending', 'dead', 'relayed'])
  })

  it('leaves replayed rows to the sweeper, which begins with the lowest, also where the newest event stands right above', async () => {
    const world = createRelayWorld()
    const note = { S: JSON.stringify({ life: 1_800_000_000_000, handlers: ['shop/count'] }) }
    const replayed = (n: number) => orderedRow('g', n, { redrives: 1, extra: { note } })
    for (const row of [replayed(1), deadRow(orderedRow('g', 2)), replayed(3)]) world.store.put(row)
    expect(await world.relay([orderedRow('g', 4)])).toEqual([])
    expect(arrivals(world.queue, 'shop/g')).toEqual([4])
    await world.clock.advance(121_000)
    await world.sweep()
    expect(arrivals(world.queue, 'shop/g')).toEqual([4, 1, 3])
    // More of them than are read at once: of those beyond, only the keys and the note are.
    for (const n of range(5, 40)) world.store.put(replayed(n))
    await world.relay([orderedRow('g', 41)])
    expect(arrivals(world.queue, 'shop/g').at(-1)).toBe(41)
    const many = range(42, 80).map((n) => orderedRow('g', n))
    await world.relay(many)
    expect(arrivals(world.queue, 'shop/g').slice(4)).toEqual(range(42, 80))
  })

  it('sends under source/group, or its hash when that is too long for a queue', async () => {
    const world = createRelayWorld()
    const long = 'g'.repeat(128)
    await world.relay([orderedRow('g', 7), orderedRow(long, 7)])
    const [short, hashed] = world.queue.delivered
    expect(short).toMatchObject({
      groupId: 'shop/g',
      deduplicationId: eventId({ source: 'shop', group: 'g', sequence: 7 }),
    })
    expect(hashed?.groupId).toMatch(/^h-[0-9a-f]{64}$/)
  })

  it(
    'finds nothing to do for a record that comes again after its group was relayed',
    proves('records-dropped-or-doubled'),
    async () => {
      const world = createRelayWorld()
      const rows = range(1, 3).map((n) => orderedRow('g', n))
      await world.relay(rows)
      expect(await world.relayRecords(records(rows))).toEqual([])
      expect(world.queue.accepted).toHaveLength(3)
    },
  )

  it('does not skip a row for good whose record comes before it can be read', proves('hint-before-row'), async () => {
    const world = createRelayWorld()
    world.store.put(relayedRow(orderedRow('g', 1)))
    await world.relayRecords(records([orderedRow('g', 2)]))
    expect(world.queue.requests).toEqual([])
    world.store.put(orderedRow('g', 2))
    await world.clock.advance(121_000)
    await world.sweep()
    expect(arrivals(world.queue, 'shop/g')).toEqual([2])
  })
})

describe('a read that shows a row and not the one before it', () => {
  it('looks the earlier row up, reads again, and sends in order', proves('torn-query'), async () => {
    const world = createRelayWorld()
    world.store.put(relayedRow(orderedRow('g', 1)))
    const rows = [orderedRow('g', 2), orderedRow('g', 3)]
    for (const row of rows) world.store.put(row)
    world.store.tear(key(2), 2)
    expect(await world.relayRecords(records(rows))).toEqual([])
    expect(world.store.calls.get('readBefore')).toBeGreaterThan(0)
    expect(arrivals(world.queue, 'shop/g')).toEqual([2, 3])
  })

  it('does not take the record of a row that was not shown yet for settled, when nobody answers', async () => {
    const world = createRelayWorld()
    world.queue.outage = 'AccessDenied'
    const rows = [orderedRow('g', 1), orderedRow('g', 2)]
    for (const row of rows) world.store.put(row)
    world.store.tear(key(1), 2)
    expect(await world.relayRecords(records(rows.slice(0, 1)))).toEqual([numbered(1)])
    expect(states(world, [1, 2])).toEqual(['pending', 'pending'])
  })

  it(
    'finds a missing row in the middle of a chunk, having sent what comes before it',
    proves('torn-query'),
    async () => {
      const world = createRelayWorld()
      for (const n of range(1, 6)) world.store.put(orderedRow('g', n))
      world.store.tear(key(4), 1)
      await world.relayRecords(records([orderedRow('g', 6)]))
      expect(arrivals(world.queue, 'shop/g')).toEqual([1, 2, 3, 4, 5, 6])
    },
  )

  it('finds two rows of one transaction that are both not shown yet', async () => {
    const world = createRelayWorld()
    world.store.put(relayedRow(orderedRow('g', 1)))
    for (const n of range(2, 4)) world.store.put(orderedRow('g', n))
    world.store.tear(key(2), 2)
    world.store.tear(key(3), 2)
    await world.relayRecords(records([orderedRow('g', 4)]))
    expect(arrivals(world.queue, 'shop/g')).toEqual([2, 3, 4])
  })

  it('sends nothing behind a row that never becomes readable, and leaves the group to the sweeper', async () => {
    const world = createRelayWorld()
    world.store.put(relayedRow(orderedRow('g', 1)))
    for (const n of range(2, 3)) world.store.put(orderedRow('g', n))
    world.store.tear(key(2), 1000)
    expect(await world.relayRecords(records([orderedRow('g', 3)]))).toEqual([])
    expect(world.queue.requests).toEqual([])
    expect(world.counts.get('leftToSweeper')).toBe(1)
  })

  it('sends a row after a true gap: the number before it was never used', async () => {
    const world = createRelayWorld()
    await world.relay([orderedRow('g', 3), orderedRow('g', 7), orderedRow('g', 8)])
    expect(arrivals(world.queue, 'shop/g')).toEqual([3, 7, 8])
    expect(world.store.calls.get('readBefore')).toBe(2)
  })
})

describe('a row of a group that is not accepted', () => {
  it('holds every later one of its group back, and no other group', proves('group-never-overtaken'), async () => {
    const world = createRelayWorld()
    world.queue.fails = ({ body }) => (body.includes('shop/g 0000000000000003') ? 'InternalError' : undefined)
    const rows = [...range(1, 6).map((n) => orderedRow('g', n)), ...range(1, 6).map((n) => orderedRow('h', n))]
    expect(await world.relay(rows)).toEqual([])
    expect(arrivals(world.queue, 'shop/g')).toEqual([1, 2])
    expect(arrivals(world.queue, 'shop/h')).toEqual(range(1, 6))
    expect(states(world, range(1, 6))).toEqual(['relayed', 'relayed', 'pending', 'pending', 'pending', 'pending'])
    world.queue.fails = () => undefined
    await world.clock.advance(121_000)
    await world.sweep()
    expect(arrivals(world.queue, 'shop/g')).toEqual(range(1, 6))
  })

  it(
    'is dead-lettered in turn when its content is refused; the rest of its group goes on',
    proves('refused-for-content'),
    async () => {
      const world = createRelayWorld()
      const buriedAfter: string[][] = []
      world.queue.refuses = ({ body }) => (body.includes('0000000000000003') ? 'InvalidMessageContents' : undefined)
      world.queue.before = async (messages) => {
        if (messages.some(({ body }) => body.includes('0000000000000004'))) buriedAfter.push(states(world, [1, 2, 3]))
      }
      await world.relay(range(1, 6).map((n) => orderedRow('g', n)))
      expect(arrivals(world.queue, 'shop/g')).toEqual([1, 2, 4, 5, 6])
      expect(buriedAfter).toEqual([['relayed', 'relayed', 'dead']])
      expect(states(world, [3, 6])).toEqual(['dead', 'relayed'])
    },
  )

  it('is not dead-lettered while the mark of an earlier row has not landed, and nothing passes it', async () => {
    const world = createRelayWorld()
    world.queue.refuses = ({ body }) => (body.includes('0000000000000002') ? 'InvalidMessageContents' : undefined)
    world.store.disturbMarks('failed')
    await world.relay(range(1, 3).map((n) => orderedRow('g', n)))
    expect(states(world, [1, 2, 3])).toEqual(['pending', 'pending', 'pending'])
    expect(arrivals(world.queue, 'shop/g')).toEqual([1])
  })

  it('is passed by nothing when it could not be dead-lettered', async () => {
    const world = createRelayWorld()
    world.queue.refuses = ({ body }) => (body.includes('0000000000000002') ? 'InvalidMessageContents' : undefined)
    world.store.fail('deadLetter')
    await world.relay(range(1, 3).map((n) => orderedRow('g', n)))
    expect(arrivals(world.queue, 'shop/g')).toEqual([1])
    expect(states(world, [1, 2, 3])).toEqual(['relayed', 'pending', 'pending'])
  })

  it('is dead-lettered alone and in turn when it cannot be understood', proves('undecodable-row'), async () => {
    const world = createRelayWorld()
    await world.relay([orderedRow('g', 1), orderedRow('g', 2, { extra: { body: undefined } }), orderedRow('g', 3)])
    expect(arrivals(world.queue, 'shop/g')).toEqual([1, 3])
    expect(states(world, [1, 2, 3])).toEqual(['relayed', 'dead', 'relayed'])
  })

  it.each([
    ['has no route yet', { type: 'order.unknown' }],
    ['has a newer format', { extra: { v: { N: '2' } } }],
    ['is another Region’s', { region: 'eu-west-1' }],
  ])('holds its group back when it %s', async (_, options) => {
    const world = createRelayWorld({ routes: (queue) => [{ type: 'order.placed', to: queue }] })
    for (const row of [orderedRow('g', 1), orderedRow('g', 2, options), orderedRow('g', 3)]) world.store.put(row)
    expect(await world.relayRecords(records([orderedRow('g', 3)]))).toEqual([])
    expect(arrivals(world.queue, 'shop/g')).toEqual([1])
    expect(states(world, [1, 2, 3])).toEqual(['relayed', 'pending', 'pending'])
  })

  it('is not sent from a read older than a minute', async () => {
    const world = createRelayWorld()
    world.queue.before = (messages) => world.clock.sleep(messages.length > 0 ? 4_000 : 0)
    await world.relay(range(1, 25).map((n) => orderedRow('g', n)))
    const sent = arrivals(world.queue, 'shop/g')
    expect(sent.length).toBeGreaterThan(10)
    expect(sent.length).toBeLessThanOrEqual(16)
    expect(states(world, [sent.length, sent.length + 1])).toEqual(['relayed', 'pending'])
  })
})

describe('a group with several destinations', () => {
  const crossed = () => {
    const made: { two?: FakeQueue } = {}
    const world = createRelayWorld({
      routes: (one, clock) => {
        made.two = createFakeQueue('two', clock)
        return [
          { type: 'to.one', to: one },
          { type: 'to.two', to: made.two },
          { type: 'to.both', to: [one, made.two] },
        ]
      },
    })
    if (made.two === undefined) throw new Error('no routes')
    return { world, two: made.two }
  }

  it(
    'keeps row 5 pending until row 4 is accepted by the destination that failed it',
    proves('crossed-destinations'),
    async () => {
      const { world, two } = crossed()
      two.outage = 'QueueDoesNotExist'
      const rows: RowImage[] = [orderedRow('g', 4, { type: 'to.two' }), orderedRow('g', 5, { type: 'to.one' })]
      expect(await world.relay(rows)).toEqual([])
      expect(arrivals(world.queue, 'shop/g')).toEqual([5])
      expect(states(world, [4, 5])).toEqual(['pending', 'pending'])
      expect(world.store.get(key(5))?.['accepted']?.SS).toEqual(['queue'])

      // A later row still goes to neither out of turn.
      expect(await world.relay([orderedRow('g', 6, { type: 'to.both' })])).toEqual([])
      expect(arrivals(two, 'shop/g')).toEqual([])
      two.outage = undefined
      await world.clock.advance(600_000)
      await world.sweep()
      expect(arrivals(two, 'shop/g')).toEqual([4, 6])
      expect(world.queue.accepted.map(({ body }) => Number(JSON.parse(body).of.split(' ')[1]))).toEqual([5, 6])
      expect(states(world, [4, 5, 6])).toEqual(['relayed', 'relayed', 'relayed'])
    },
  )

  it(
    'marks nothing behind a pending row in later chunks either; who took a row is noted there too',
    proves('crossed-destinations'),
    async () => {
      const { world, two } = crossed()
      two.outage = 'QueueDoesNotExist'
      const rest = range(2, 60)
      world.store.put(orderedRow('g', 1, { type: 'to.two' }))
      for (const n of rest) world.store.put(orderedRow('g', n, { type: 'to.one' }))
      await world.clock.advance(121_000)
      expect(await world.sweep()).toMatchObject({ relayed: 0 })
      expect(arrivals(world.queue, 'shop/g')).toEqual(rest)
      expect(new Set(states(world, range(1, 60)))).toEqual(new Set(['pending']))
      two.outage = undefined
      await world.clock.advance(600_000)
      expect(await world.sweep()).toMatchObject({ relayed: 60 })
      expect(world.queue.accepted).toHaveLength(59)
    },
  )

  it('dead-letters a row refused by one only after its other destination, and all earlier rows, are settled', async () => {
    const { world, two } = crossed()
    two.outage = 'AccessDenied'
    world.queue.refuses = ({ body }) => (body.includes('0000000000000002') ? 'InvalidMessageContents' : undefined)
    await world.relay([
      orderedRow('g', 1, { type: 'to.two' }),
      orderedRow('g', 2, { type: 'to.both' }),
      orderedRow('g', 3, { type: 'to.one' }),
    ])
    expect(states(world, [1, 2, 3])).toEqual(['pending', 'pending', 'pending'])
    expect(arrivals(world.queue, 'shop/g')).toEqual([])
    two.outage = undefined
    await world.clock.advance(600_000)
    await world.sweep()
    expect(arrivals(two, 'shop/g')).toEqual([1, 2])
    expect(arrivals(world.queue, 'shop/g')).toEqual([3])
    expect(states(world, [1, 2, 3])).toEqual(['relayed', 'dead', 'relayed'])
  })

  it('is reported only if no destination answered for anything', async () => {
    const { world, two } = crossed()
    two.outage = 'AccessDenied'
    expect(await world.relay([orderedRow('g', 1, { type: 'to.two' })])).toEqual([numbered(1)])
    expect(await world.relay([orderedRow('h', 1, { type: 'to.one' }), orderedRow('g', 2, { type: 'to.two' })])).toEqual(
      [],
    )
  })
})

function hash({ dynamodb }: StreamRecord): number {
  return (Number(dynamodb?.SequenceNumber) * 7919) % 61
}
