import { describe, expect, it } from 'vitest'
import { eventId, sha256 } from '../../src/event/identity.ts'
import { streamRecord } from '../../src/testing/records.ts'
import { proves } from '../cases.ts'
import { createFakeQueue } from '../support/fake-queue.ts'
import { deadRow, keyOfRow, orderedRow, relayedRow, stateOf, unorderedRow } from '../support/outbox-rows.ts'
import { createRelayWorld, numbered, records } from '../support/relay-world.ts'

const HOUR = 3_600_000

describe('the stream path, unordered rows', () => {
  it('sends 1,000 rows in exactly 100 full requests, side by side, and marks them in exactly 40', async () => {
    const world = createRelayWorld()
    const rows = Array.from({ length: 1000 }, (_, n) => unorderedRow(`order-${n}`))
    expect(await world.relay(rows)).toEqual([])
    expect(world.queue.requests.map((request) => request.length)).toEqual(Array(100).fill(10))
    expect(world.queue.concurrent()).toBe(10)
    expect(world.store.calls.get('markRelayed')).toBe(40)
    expect(world.store.calls.get('readRows')).toBeUndefined()
    expect(world.store.all().every((row) => stateOf(row) === 'relayed')).toBe(true)
    expect(world.counts.get('relayed')).toBe(1000)
    expect(world.counts.get('sent')).toBe(1000)
  })

  it('sends the body verbatim, under the event id as group and deduplication id', async () => {
    const world = createRelayWorld()
    const key = `${'k'.repeat(60)}:/#!`
    await world.relay([unorderedRow(key, { body: '{"a":1.0 }' })])
    const id = eventId({ source: 'shop', key })
    expect(world.queue.delivered).toEqual([
      { deduplicationId: id, groupId: id, body: '{"a":1.0 }', source: 'shop', type: 'order.placed' },
    ])
  })

  it('marks a row with an expiry in seconds, a week ahead', async () => {
    const world = createRelayWorld()
    const row = unorderedRow('a')
    await world.relay([row])
    const seconds = Number(world.store.get(keyOfRow(row))?.['expires']?.N)
    expect(seconds).toBeGreaterThanOrEqual(world.clock.now() / 1000 + 604_700)
    expect(seconds).toBeLessThan(world.clock.now() / 1000 + 604_801)
  })

  it('publishes no MODIFY, no removal, no expiry and no row of another shape', proves('not-an-insert'), async () => {
    const world = createRelayWorld()
    const image = unorderedRow('a') as never
    const relayed = relayedRow(unorderedRow('b')) as never
    const dead = deadRow(unorderedRow('c')) as never
    const pull = unorderedRow('d', { shard: 'w#shop#0' }) as never
    const failures = await world.relayRecords([
      streamRecord({ eventName: 'MODIFY', newImage: image }),
      streamRecord({ eventName: 'REMOVE', oldImage: image }),
      streamRecord({ eventName: 'REMOVE', oldImage: image, ttl: true }),
      streamRecord({ eventName: 'MODIFY', newImage: image, oldImage: image }),
      streamRecord({ newImage: relayed }),
      streamRecord({ newImage: dead }),
      streamRecord({ newImage: pull }),
      streamRecord({ newImage: { pk: { S: 'H#sweeper' }, sk: { S: 'us-east-1' }, at: { N: '1' } } }),
      streamRecord({ newImage: { pk: { S: 'x' }, sk: { S: 'y' }, data: { B: 'AAAA' } } }),
    ] as never)
    expect(failures).toEqual([])
    expect(world.queue.requests).toEqual([])
  })

  it('leaves the rows of another Region to it, unless they are taken over', async () => {
    const world = createRelayWorld()
    await world.relay([unorderedRow('a', { region: 'eu-west-1' })])
    expect(world.queue.requests).toEqual([])
    const heir = createRelayWorld({ regions: ['us-east-1', 'eu-west-1'] })
    await heir.relay([unorderedRow('a', { region: 'eu-west-1' })])
    expect(heir.queue.delivered).toHaveLength(1)
  })

  it(
    'sends nothing of a day of old records whose rows are relayed, and once what is still pending',
    proves('stream-from-the-start', 'records-dropped-or-doubled'),
    async () => {
      const world = createRelayWorld()
      const yesterday = world.clock.now() - 23 * HOUR
      const rows = Array.from({ length: 200 }, (_, n) => unorderedRow(`k${n}`, { created: yesterday }))
      const pending = rows[7] ?? {}
      for (const row of rows) world.store.put(row === pending ? row : relayedRow(row))
      const old = rows.map((row, n) => streamRecord({ newImage: row as never, sequence: n, createdAt: yesterday }))
      expect(await world.relayRecords(old as never)).toEqual([])
      expect(world.queue.delivered.map(({ body }) => body)).toEqual([pending['body']?.S])
      expect(await world.relayRecords([...old, ...old] as never)).toEqual([])
      expect(world.queue.accepted).toHaveLength(1)
    },
  )

  it('reads a row back whose writer’s clock was ahead, by the age of the record', async () => {
    const world = createRelayWorld()
    const row = unorderedRow('a', { created: world.clock.now() + HOUR })
    world.store.put(relayedRow(row))
    await world.relayRecords([streamRecord({ newImage: row as never, createdAt: world.clock.now() - HOUR })] as never)
    expect(world.queue.requests).toEqual([])
  })

  it('sends a record that comes twice in a batch once', async () => {
    const world = createRelayWorld()
    const row = unorderedRow('a')
    world.store.put(row)
    await world.relayRecords([...records([row]), ...records([row])])
    expect(world.queue.accepted).toHaveLength(1)
  })

  it('reads a row from the table if its record brings no image', async () => {
    const world = createRelayWorld()
    const row = unorderedRow('a')
    world.store.put(row)
    const { pk, sk } = row
    await world.relayRecords([streamRecord({ keys: { pk, sk } as never })] as never)
    expect(world.queue.delivered).toHaveLength(1)
  })

  it('sends a row redriven since by its new round, so that the mark lands', async () => {
    const world = createRelayWorld()
    const old = world.clock.now() - HOUR
    const row = unorderedRow('a', { created: old })
    world.store.put({ ...row, redrives: { N: '2' } })
    await world.relayRecords([streamRecord({ newImage: row as never, createdAt: old })] as never)
    expect(world.queue.delivered[0]?.deduplicationId).toBe(`${eventId({ source: 'shop', key: 'a' })}-r2`)
    expect(stateOf(world.store.get(keyOfRow(row)))).toBe('relayed')
  })
})

describe('rows and records that cannot be sent as they are', () => {
  it(
    'dead-letters a malformed row alone; the others of the batch go on',
    proves('poison-record', 'undecodable-row'),
    async () => {
      const world = createRelayWorld()
      const bad = unorderedRow('bad', { extra: { body: { N: '5' } } })
      const worse = unorderedRow('worse', { extra: { redrives: { S: 'three' } } })
      expect(await world.relay([bad, unorderedRow('good'), worse])).toEqual([])
      expect(world.queue.delivered).toHaveLength(1)
      expect(stateOf(world.store.get(keyOfRow(bad)))).toBe('dead')
      expect(world.store.get(keyOfRow(bad))?.['failure']?.S).toBe('malformed: `body` is missing, empty or no text')
      expect(stateOf(world.store.get(keyOfRow(worse)))).toBe('dead')
      expect(world.counts.get('malformedRows')).toBe(2)
    },
  )

  it('counts and logs records without a readable key, and reports none of them', proves('poison-record'), async () => {
    const world = createRelayWorld()
    const odd = [
      streamRecord({ newImage: { pk: { N: '1' }, sk: { S: 'x' } } }),
      { eventName: 'INSERT', dynamodb: {} },
      { eventName: 'INSERT' },
      {},
      null,
    ]
    expect(await world.relayRecords([...odd, ...records([unorderedRow('good')])] as never)).toEqual([])
    expect(world.counts.get('malformedRows')).toBe(2)
    expect(world.log.some(({ level, fields }) => level === 'error' && fields['records'] === 2)).toBe(true)
    expect(world.queue.delivered).toHaveLength(1)
  })

  it('leaves a row of a newer format pending, and counts it', async () => {
    const world = createRelayWorld()
    const row = unorderedRow('a', { extra: { v: { N: '2' }, body: undefined } })
    await world.relay([row])
    expect(stateOf(world.store.get(keyOfRow(row)))).toBe('pending')
    expect(world.counts.get('newerRows')).toBe(1)
  })

  it('leaves a row that no route takes pending, and counts it; once there is a route it is sent', async () => {
    const world = createRelayWorld({ routes: (queue) => [{ type: 'order.placed', to: queue }] })
    const row = unorderedRow('a', { type: 'order.cancelled' })
    expect(await world.relay([row])).toEqual([])
    expect(stateOf(world.store.get(keyOfRow(row)))).toBe('pending')
    expect(world.counts.get('unroutedRows')).toBe(1)
    expect(world.counts.get('leftToSweeper')).toBe(1)
  })

  it('sends a foreign row under its own id, or one derived from its key, which is counted', async () => {
    const world = createRelayWorld()
    const foreign = { v: undefined, type: undefined, instance: undefined, created: undefined }
    const own = unorderedRow('x', { extra: { ...foreign, id: { S: 'their-id:1' } } })
    const none = {
      ...unorderedRow('y', { extra: { ...foreign, due: undefined } }),
      pk: { S: 'theirs' },
      sk: { S: '7' },
    }
    await world.relay([own, none])
    expect(world.queue.delivered.map(({ deduplicationId }) => deduplicationId).sort()).toEqual(
      ['their-id:1', sha256('theirs|7')].sort(),
    )
    expect(world.counts.get('foreignRows')).toBe(1)
  })

  it('gives a foreign row without due one when it cannot be sent, so that the sweeper finds it', async () => {
    const world = createRelayWorld()
    const row = {
      ...unorderedRow('y', { extra: { v: undefined, due: undefined } }),
      pk: { S: 'theirs' },
      sk: { S: '7' },
    }
    world.queue.fails = ({ deduplicationId }) => (deduplicationId === sha256('theirs|7') ? 'down' : undefined)
    expect(await world.relay([row, unorderedRow('a')])).toEqual([])
    expect(world.store.get(keyOfRow(row))?.['due']).toBeDefined()
    world.queue.fails = () => undefined
    await world.sweep()
    expect(stateOf(world.store.get(keyOfRow(row)))).toBe('relayed')
  })
})

describe('failures on the stream path', () => {
  it(
    'dead-letters what is refused for its content at once, with the reason; the others go on',
    proves('refused-for-content', 'entry-refused-in-200'),
    async () => {
      const world = createRelayWorld()
      world.queue.refuses = ({ body }) => (body.includes('bad') ? 'InvalidMessageContents: no\u0007good' : undefined)
      const bad = unorderedRow('bad', { body: '"bad"' })
      expect(await world.relay([unorderedRow('a'), bad, unorderedRow('b')])).toEqual([])
      expect(stateOf(world.store.get(keyOfRow(bad)))).toBe('dead')
      expect(world.store.get(keyOfRow(bad))?.['failure']?.S).toBe('InvalidMessageContents: no good')
      expect(world.store.get(keyOfRow(bad))?.['expires']).toBeUndefined()
      expect(world.queue.delivered).toHaveLength(2)
      expect(world.counts.get('deadRows')).toBe(1)
      expect(world.log.find(({ message }) => message === 'row dead-lettered')?.level).toBe('error')
    },
  )

  it(
    'keeps what earlier requests sent when a later one throws, and reports nothing',
    proves('later-chunk-throws'),
    async () => {
      const world = createRelayWorld()
      const rows = Array.from({ length: 30 }, (_, n) => unorderedRow(`k${n}`))
      world.queue.before = async (messages) => {
        if (messages.some(({ body }) => body.includes('k25'))) throw new Error('socket hang up')
      }
      expect(await world.relay(rows)).toEqual([])
      expect(world.queue.requests.length).toBeGreaterThanOrEqual(5)
      const states = rows.map((row) => stateOf(world.store.get(keyOfRow(row))))
      expect(states.slice(0, 20)).toEqual(Array(20).fill('relayed'))
      expect(states[25]).toBe('pending')
      expect(world.counts.get('leftToSweeper')).toBe(10)
    },
  )

  it('tries an entry again a few times within the run', async () => {
    const world = createRelayWorld()
    let refusals = 2
    world.queue.fails = () => (refusals-- > 0 ? 'RequestThrottled' : undefined)
    const row = unorderedRow('a')
    expect(await world.relay([row])).toEqual([])
    expect(stateOf(world.store.get(keyOfRow(row)))).toBe('relayed')
  })

  it(
    'reports every record when no destination answers, so that Lambda tries again',
    proves('outage-of-permission'),
    async () => {
      const world = createRelayWorld()
      world.queue.outage = 'AccessDenied'
      const rows = [unorderedRow('a'), unorderedRow('b'), orderedRow('g', 1)]
      expect((await world.relay(rows)).sort()).toEqual([1, 2, 3].map(numbered))
      expect(world.store.all().map(stateOf)).toEqual(['pending', 'pending', 'pending'])
      expect(world.store.calls.get('addAccepted')).toBeUndefined()
      expect(world.store.calls.get('deadLetter')).toBeUndefined()
    },
  )

  it('pauses a destination that does not answer instead of trying a thousand rows', async () => {
    const world = createRelayWorld()
    world.queue.outage = 'ServiceUnavailable'
    const failures = await world.relay(Array.from({ length: 1000 }, (_, n) => unorderedRow(`k${n}`)))
    expect(failures).toHaveLength(1000)
    expect(world.queue.requests.length).toBeLessThanOrEqual(20)
  })

  it('reports the records whose table cannot be read, and no others', async () => {
    const world = createRelayWorld()
    world.store.fail('readGroup')
    expect(await world.relay([unorderedRow('a'), orderedRow('g', 1), orderedRow('g', 2)])).toEqual([2, 3].map(numbered))
    expect(world.queue.delivered).toHaveLength(1)
  })

  it('reports old records whose rows cannot be read back, and leaves alone those whose row is gone', async () => {
    const world = createRelayWorld()
    const old = unorderedRow('old', { created: world.clock.now() - 600_000 })
    const gone = unorderedRow('gone', { created: world.clock.now() - 600_000 })
    world.store.put(old)
    world.store.fail('readRows')
    expect(await world.relayRecords(records([old, gone]))).toEqual([1, 2].map(numbered))
    expect(world.log).toEqual([
      { level: 'warn', message: 'table could not be read', fields: { records: 2, reason: 'Error' } },
    ])
    world.store.mend()
    expect(await world.relayRecords(records([old, gone]))).toEqual([])
    expect(world.queue.delivered).toHaveLength(1)
    expect(world.counts.get('leftToSweeper')).toBe(1)
  })

  it('reads no old record back once its time is over', async () => {
    const world = createRelayWorld()
    const old = unorderedRow('old', { created: world.clock.now() - 600_000 })
    expect(await world.relay([old], { remainingMs: 0 })).toEqual([])
    expect(world.store.calls.get('readRows')).toBeUndefined()
    expect(world.counts.get('leftToSweeper')).toBe(1)
  })

  it('reports a foreign row without due that could not be given one: nobody else would find it', async () => {
    const world = createRelayWorld()
    const row = {
      ...unorderedRow('y', { extra: { v: undefined, due: undefined } }),
      pk: { S: 'theirs' },
      sk: { S: '7' },
    }
    world.queue.fails = ({ deduplicationId }) => (deduplicationId === sha256('theirs|7') ? 'down' : undefined)
    world.store.fail('list')
    expect(await world.relay([row, unorderedRow('a')])).toEqual([1].map(numbered))
    expect(world.counts.get('leftToSweeper')).toBeUndefined()
  })

  it('counts a mark that fails and leaves the row to the sweeper, unreported', async () => {
    const world = createRelayWorld()
    world.store.disturbMarks('ok', 'failed')
    expect(await world.relay([unorderedRow('a'), unorderedRow('b')])).toEqual([])
    expect(world.store.all().map(stateOf)).toEqual(['relayed', 'pending'])
    expect(world.counts.get('markFailed')).toBe(1)
  })

  it('marks again what was busy', async () => {
    const world = createRelayWorld()
    world.store.disturbMarks('busy', 'ok', 'busy')
    await world.relay([unorderedRow('a'), unorderedRow('b')])
    expect(world.store.all().map(stateOf)).toEqual(['relayed', 'relayed'])
  })

  it('begins nothing new near the end of its time, and leaves the rest to the sweeper', async () => {
    const world = createRelayWorld()
    world.queue.before = () => world.clock.sleep(1000)
    const rows = Array.from({ length: 1000 }, (_, n) => unorderedRow(`k${n}`))
    const start = world.clock.now()
    expect(await world.relay(rows, { remainingMs: 8_000 })).toEqual([])
    expect(world.clock.now() - start).toBeLessThan(8_000)
    expect(world.counts.get('relayed')).toBeGreaterThan(100)
    expect(world.counts.get('relayed')).toBeLessThan(1000)
    expect(world.counts.get('relayed') ?? 0).toBe(1000 - (world.counts.get('leftToSweeper') ?? 0))
  })

  it('does not wait for a destination that never answers', async () => {
    const world = createRelayWorld()
    world.queue.before = () => new Promise(() => {})
    const start = world.clock.now()
    expect(await world.relay([unorderedRow('a')])).toEqual([numbered(1)])
    expect(world.clock.now() - start).toBeLessThan(30_000)
  })

  it('lets a slow send block only what is in its request', proves('slow-send'), async () => {
    const world = createRelayWorld()
    const release = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    world.queue.before = async (messages) => {
      if (messages.some(({ groupId }) => groupId === 'shop/slow')) await release.promise
      else if (world.queue.delivered.length >= 180) arrived.resolve()
    }
    const groups = Array.from({ length: 30 }, (_, n) => (n === 0 ? 'slow' : `g${n}`))
    const rows = groups.flatMap((group) => Array.from({ length: 10 }, (_, n) => orderedRow(group, n + 1)))
    const relayed = world.relay(rows)
    await arrived.promise
    expect(world.queue.delivered.filter(({ groupId }) => groupId === 'shop/slow')).toEqual([])
    release.resolve()
    expect(await relayed).toEqual([])
    expect(world.store.all().every((row) => stateOf(row) === 'relayed')).toBe(true)
  })
})

describe('several destinations', () => {
  const twoQueues = () => {
    const other: { queue?: ReturnType<typeof createFakeQueue> } = {}
    const world = createRelayWorld({
      routes: (queue, clock) => {
        other.queue = createFakeQueue('other', clock)
        return [{ to: [queue, other.queue] }]
      },
    })
    if (other.queue === undefined) throw new Error('no routes')
    return { world, other: other.queue }
  }

  it(
    'marks a row only when all have it; the one that has it gets it once, however long the other is down',
    proves('one-destination-down'),
    async () => {
      const { world, other } = twoQueues()
      const rows = [unorderedRow('a'), orderedRow('g', 1), orderedRow('g', 2)]
      other.outage = 'QueueDoesNotExist'
      expect(await world.relay(rows)).toEqual([])
      expect(world.store.all().map(stateOf)).toEqual(['pending', 'pending', 'pending'])
      for (let day = 0; day < 3; day += 1) {
        await world.clock.advance(24 * HOUR)
        await world.sweep()
      }
      other.outage = undefined
      await world.sweep()
      expect(world.queue.accepted).toHaveLength(3)
      expect(other.accepted).toHaveLength(3)
      expect(
        world.store
          .all()
          .filter((row) => row['pk']?.S !== 'H#sweeper')
          .map(stateOf),
      ).toEqual(['relayed', 'relayed', 'relayed'])
    },
  )

  it('dead-letters a row that one refuses only once all others have it', async () => {
    const { world, other } = twoQueues()
    const row = unorderedRow('a')
    other.refuses = () => 'too long'
    world.queue.outage = 'ServiceUnavailable'
    await world.relay([row])
    expect(stateOf(world.store.get(keyOfRow(row)))).toBe('pending')
    world.queue.outage = undefined
    await world.clock.advance(HOUR)
    await world.sweep()
    expect(world.queue.delivered).toHaveLength(1)
    expect(stateOf(world.store.get(keyOfRow(row)))).toBe('dead')
  })
})
