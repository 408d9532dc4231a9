import { describe, expect, it } from 'vitest'
import { createMarker } from '../../src/relay/marker.ts'
import { type PendingRow, readRow } from '../../src/relay/row-image.ts'
import { createTimeBudget } from '../../src/relay/time-budget.ts'
import type { MetricKey } from '../../src/telemetry.ts'
import { createManualClock } from '../../src/testing/manual-clock.ts'
import { proves } from '../cases.ts'
import { createMemoryRowStore } from '../support/memory-row-store.ts'
import { keyOfRow, REGION, relayedRow, stateOf, unorderedRow } from '../support/outbox-rows.ts'
import { driven } from '../support/relay-world.ts'

function setUp() {
  const clock = createManualClock()
  const store = createMemoryRowStore()
  const counts = new Map<MetricKey, number>()
  const telemetry = {
    count: (metric: MetricKey, value = 1) => void counts.set(metric, (counts.get(metric) ?? 0) + value),
  }
  const silent = () => {}
  const logger = { info: silent, warn: silent, error: silent }
  const marker = createMarker({
    store,
    clock,
    telemetry,
    logger,
    budget: createTimeBudget(clock, 60_000),
    keepSeconds: 100,
  })
  const put = (key: string): PendingRow => {
    const image = unorderedRow(key)
    store.put(image)
    return pending(image)
  }
  return { clock, store, marker, counts, put, flush: () => driven(clock, marker.flush()) }
}

function pending(image: Parameters<typeof readRow>[0]): PendingRow {
  const reading = readRow(image, new Set([REGION]))
  if (reading.kind !== 'pending') throw new Error(reading.kind)
  return reading.row
}

describe('createMarker', () => {
  it('sends 25 at a time as they come, and the rest with a flush', async () => {
    const { store, marker, put, flush, counts } = setUp()
    const marks = Array.from({ length: 60 }, (_, n) => marker.mark(put(`k${n}`)))
    expect(await Promise.all(marks.slice(0, 50))).toEqual(Array(50).fill(true))
    expect(store.calls.get('markRelayed')).toBe(2)
    await flush()
    expect(await Promise.all(marks)).toEqual(Array(60).fill(true))
    expect(store.calls.get('markRelayed')).toBe(3)
    expect(counts.get('relayed')).toBe(60)
  })

  it('writes expiry times in seconds', proves('ttl-unit'), async () => {
    const { store, marker, put, flush, clock } = setUp()
    const row = put('k')
    void marker.mark(row)
    await flush()
    expect(store.get(row)?.['expires']).toEqual({ N: String(Math.floor(clock.now() / 1000) + 100) })
  })

  it('names a row once in a request, however often it is marked', async () => {
    const { marker, put, flush, counts } = setUp()
    const row = put('k')
    const marks = [marker.mark(row), marker.mark(row)]
    await flush()
    expect(await Promise.all(marks)).toEqual([true, true])
    expect(counts.get('relayed')).toBe(1)
  })

  it('is content with a row that somebody else moved, without counting it', async () => {
    const { store, marker, flush, counts } = setUp()
    const image = unorderedRow('k')
    store.put(relayedRow(image))
    const mark = marker.mark(pending(image))
    await flush()
    expect(await mark).toBe(true)
    expect(counts.size).toBe(0)
  })

  it('does not touch a row that was redriven meanwhile', async () => {
    const { store, marker, flush } = setUp()
    const image = unorderedRow('k')
    store.put({ ...image, redrives: { N: '1' } })
    void marker.mark(pending(image))
    await flush()
    expect(stateOf(store.get(keyOfRow(image)))).toBe('pending')
  })

  it('tries again what is busy, three times in all, and only that', async () => {
    const { store, marker, put, flush, counts } = setUp()
    store.disturbMarks('busy', 'failed', 'ok', 'busy', 'busy')
    const marks = ['a', 'b', 'c'].map((key) => marker.mark(put(key)))
    await flush()
    expect(await Promise.all(marks)).toEqual([false, false, true])
    expect(store.calls.get('markRelayed')).toBe(3)
    expect(counts).toEqual(
      new Map([
        ['markFailed', 2],
        ['relayed', 1],
      ]),
    )
  })

  it('never rejects when the table does not answer', async () => {
    const { store, marker, put, flush, counts } = setUp()
    store.fail('markRelayed')
    const mark = marker.mark(put('a'))
    await flush()
    expect(await mark).toBe(false)
    expect(counts.get('markFailed')).toBe(1)
  })
})
