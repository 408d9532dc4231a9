import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { RawStreamRecord } from '../../src/testing/dynamo-stream-reader.ts'
import { createFunction, inProcess } from '../../src/testing/function.ts'
import type { LambdaHandler, StreamEvent, StreamRecord } from '../../src/testing/lambda-events.ts'
import { scaledClock } from '../../src/testing/scaled-clock.ts'
import type { DiscardedRecords, StreamSettings } from '../../src/testing/stream-settings.ts'
import { createStreamSource, type StreamSource } from '../../src/testing/stream-source.ts'
import { waitFor, waitUntilIdle } from '../../src/testing/wait.ts'

const SPEED = 200
const clock = scaledClock({ speed: SPEED, origin: Date.now() })

type Run = {
  readonly source: StreamSource
  /** Keys of each batch that was handed over. */
  readonly batches: string[][]
  readonly discarded: DiscardedRecords[]
  readonly push: (...keys: string[]) => void
  readonly idle: () => Promise<void>
}

let current: StreamSource | undefined
afterEach(async () => {
  await current?.stop()
  current = undefined
})

/** A source over a stream in memory. The handler answers by key; every batch is recorded. */
function start(
  settings: StreamSettings & { timeoutMs?: number; read?: () => Promise<RawStreamRecord[]> },
  handler: LambdaHandler<StreamEvent> = () => undefined,
): Run {
  const batches: string[][] = []
  const discarded: DiscardedRecords[] = []
  const stream: RawStreamRecord[] = []
  let sequence = 0
  let activity = 0
  const recording: LambdaHandler<StreamEvent> = (event, context) => {
    batches.push(event.Records.map(keyOf))
    return handler(event, context)
  }
  const onFailure = (info: DiscardedRecords): void => {
    discarded.push(info)
  }
  const source = createStreamSource(
    { onFailure, ...settings },
    {
      clock,
      speed: SPEED,
      streamArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/outbox/stream/now',
      reader: { read: settings.read ?? (async () => stream.splice(0)) },
      function: createFunction(
        { timeoutMs: settings.timeoutMs ?? 60_000 },
        { clock, runner: inProcess(recording, clock) },
      ),
      onActivity: () => {
        activity += 1
      },
    },
  )
  current = source
  const push = (...keys: string[]): void => {
    for (const key of keys) {
      sequence += 1
      stream.push({
        eventID: String(sequence),
        eventName: 'INSERT',
        dynamodb: { Keys: { pk: { S: key } }, SequenceNumber: String(sequence) },
      })
    }
  }
  return {
    source,
    batches,
    discarded,
    push,
    idle: () => waitUntilIdle({ sources: () => [source], activity: () => activity }),
  }
}

function keyOf(record: StreamRecord): string {
  const { pk } = record.dynamodb.Keys
  return pk !== undefined && 'S' in pk ? pk.S : ''
}

const failing = (records: readonly StreamRecord[]): unknown => ({
  batchItemFailures: records.map(({ dynamodb }) => ({ itemIdentifier: dynamodb.SequenceNumber })),
})
const keys = (discarded: readonly DiscardedRecords[]): string[] =>
  discarded.flatMap(({ records }) => records.map(keyOf))

describe('a stream event source', () => {
  it('hands over records in order, in batches of the given size, one after the other', async () => {
    const run = start({ batchSize: 3 })
    run.push('a', 'b', 'c', 'd', 'e')
    await run.idle()
    expect(run.batches).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ])
  })

  it("gives records Lambda's shape and the time of the clock", async () => {
    const events: StreamEvent[] = []
    const run = start({}, (event) => {
      events.push(event)
    })
    const before = clock.now()
    run.push('a')
    await run.idle()
    const [record] = events.flatMap(({ Records }) => Records)
    expect(record).toMatchObject({
      eventSource: 'aws:dynamodb',
      awsRegion: 'us-east-1',
      eventSourceARN: expect.stringContaining(':table/outbox/stream/'),
    })
    expect(record?.dynamodb.SequenceNumber).toBe('000000000000000000001')
    expect((record?.dynamodb.ApproximateCreationDateTime ?? 0) * 1000).toBeGreaterThanOrEqual(before - 1000)
  })

  it('gathers a batch for its window', async () => {
    const run = start({ windowMs: 10_000 })
    run.push('a')
    await waitFor(() => run.source.pending().length > 0)
    run.push('b')
    await run.idle()
    expect(run.batches).toEqual([['a', 'b']])
  })

  it('goes on at the checkpoint: the lowest number reported and all after it', async () => {
    let calls = 0
    const run = start({ reportBatchItemFailures: true }, ({ Records }) => {
      calls += 1
      return calls === 1 ? failing([Records[3], Records[1]].filter((record) => record !== undefined)) : undefined
    })
    run.push('a', 'b', 'c', 'd')
    await run.idle()
    expect(run.batches).toEqual([
      ['a', 'b', 'c', 'd'],
      ['b', 'c', 'd'],
    ])
  })

  it('does not read the answer where partial responses are off', async () => {
    const run = start({}, ({ Records }) => failing(Records))
    run.push('a')
    await run.idle()
    expect(run.batches).toEqual([['a']])
  })

  it('retries a bounded number of times, then reports the records as discarded and goes on', async () => {
    const run = start({ batchSize: 1, maxRetries: 2 }, ({ Records }) => {
      if (Records.map(keyOf).includes('poison')) throw new Error('cannot')
    })
    run.push('poison', 'fine')
    await run.idle()
    expect(run.batches).toEqual([['poison'], ['poison'], ['poison'], ['fine']])
    expect(run.discarded.map(({ condition }) => condition)).toEqual(['RetryAttemptsExhausted'])
    expect(keys(run.discarded)).toEqual(['poison'])
  })

  it('finds the bad record by halving and discards only that one', async () => {
    const run = start({ bisect: true, maxRetries: 1 }, ({ Records }) => {
      if (Records.map(keyOf).includes('c')) throw new Error('cannot')
    })
    run.push('a', 'b', 'c', 'd')
    await run.idle()
    expect(run.batches).toEqual([['a', 'b', 'c', 'd'], ['a', 'b'], ['c', 'd'], ['c'], ['c'], ['d']])
    expect(keys(run.discarded)).toEqual(['c'])
  })

  it('treats a timeout as a failure of the batch', async () => {
    let calls = 0
    const run = start({ timeoutMs: 1000 }, () => {
      calls += 1
      return calls === 1 ? new Promise(() => {}) : undefined
    })
    run.push('a')
    await run.idle()
    expect(run.batches).toEqual([['a'], ['a']])
    expect(run.source.function.counts()).toMatchObject({ timeout: 1, ok: 1 })
  })

  it('retries a throttled batch without counting', async () => {
    const run = start({ maxRetries: 0 })
    run.source.function.setConcurrency(0)
    run.push('a')
    await waitFor(() => run.source.function.counts().throttled >= 3)
    run.source.function.setConcurrency(1)
    await run.idle()
    expect(run.batches).toEqual([['a']])
    expect(run.discarded).toEqual([])
  })

  it('discards records that grow older than allowed while they are retried', async () => {
    const run = start({ maxAgeMs: 5000 }, () => {
      throw new Error('down')
    })
    run.push('a')
    await run.idle()
    expect(run.discarded.map(({ condition }) => condition)).toEqual(['MaximumRecordAgeExceeded'])
    expect(run.batches.length).toBeGreaterThan(1)
  })

  it('skips what the filter does not match', async () => {
    const run = start({ filter: { dynamodb: { Keys: { pk: { S: [{ prefix: 'a' }] } } } } })
    run.push('a1', 'b1', 'a2')
    await run.idle()
    expect(run.batches).toEqual([['a1', 'a2']])
  })

  it('keeps records of one item in order with a parallelisation factor, and runs others beside them', async () => {
    let most = 0
    const run = start({ parallelization: 4, batchSize: 5 }, async () => {
      most = Math.max(most, run.source.function.running())
      await clock.sleep(500)
    })
    run.push(...Array.from({ length: 40 }, (_, n) => `item${n % 8}`))
    await run.idle()
    expect(run.batches.flat()).toHaveLength(40)
    expect(most).toBeGreaterThan(1)
  })

  it('lets a fault drop, double and shuffle records, and still finds the checkpoint', async () => {
    const faults = (records: StreamRecord[]): StreamRecord[] => {
      const kept = records.filter((record) => keyOf(record) !== 'b')
      return [...kept, ...kept.slice(0, 1)].reverse()
    }
    let calls = 0
    const run = start({ faults, reportBatchItemFailures: true }, ({ Records }) => {
      calls += 1
      return calls === 1 ? failing(Records.filter((record) => keyOf(record) === 'c')) : undefined
    })
    run.push('a', 'b', 'c', 'd')
    await run.idle()
    expect(run.batches).toEqual([
      ['a', 'd', 'c', 'a'],
      ['d', 'c'],
    ])
  })

  it('reads on after an error of the stream, and names it while it lasts', async () => {
    let broken = true
    const read = async (): Promise<RawStreamRecord[]> => {
      if (broken) throw new Error('stream is away')
      return []
    }
    const run = start({ read })
    await waitFor(() => run.source.pending().length > 0)
    expect(run.source.pending()).toEqual(['the stream of function, which cannot be read: Error: stream is away'])
    broken = false
    await run.idle()
    expect(run.source.pending()).toEqual([])
  })
})

it('asks a slow engine more rarely: at most a fifth of the time', async () => {
  const begun: number[] = []
  const read = async (): Promise<RawStreamRecord[]> => {
    begun.push(performance.now())
    await systemClock.sleep(20)
    return []
  }
  start({ read })
  await waitFor(() => begun.length > 3)
  const gaps = begun.slice(1).map((at, n) => at - (begun[n] ?? at))
  // A timer may fire a millisecond early, twice in a gap.
  expect(Math.min(...gaps)).toBeGreaterThan(5 * 20 - 10)
})
