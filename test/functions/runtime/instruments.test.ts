import type { Context } from 'aws-lambda'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createInstruments } from '../../../functions/runtime/instruments.ts'

/** What reaches the log: Powertools writes to standard output and error, past the console. */
function listen(): () => Record<string, unknown>[] {
  const streams = [process.stdout, process.stderr]
  const writes = streams.map((stream) => vi.spyOn(stream, 'write').mockImplementation(() => true))
  return () => writes.flatMap(({ mock }) => mock.calls.map(([line]) => JSON.parse(String(line))))
}
afterEach(() => vi.restoreAllMocks())

const context = (remaining = 30_000) =>
  ({
    functionName: 'relay',
    awsRequestId: 'request-1',
    getRemainingTimeInMillis: () => remaining,
  }) as Context

describe('createInstruments', () => {
  it('writes the metrics of an invocation in one line, in the namespace and dimensions of the alarms', async () => {
    const lines = listen()
    const { telemetry, instrument } = createInstruments('outbox', 'orders-outbox')
    const handler = instrument(async (event: number) => {
      telemetry.count('sent', event)
      telemetry.count('sent', 1)
      telemetry.count('pendingRows', 0)
      return 'done'
    })
    expect(await handler(2, context())).toBe('done')
    expect(lines()).toEqual([
      {
        _aws: {
          Timestamp: expect.any(Number),
          CloudWatchMetrics: [
            {
              Namespace: 'DynamoDBOutbox',
              Dimensions: [['service', 'Table']],
              Metrics: [
                { Name: 'Sent', Unit: 'Count' },
                { Name: 'PendingRows', Unit: 'Count' },
              ],
            },
          ],
        },
        service: 'outbox',
        Table: 'orders-outbox',
        Sent: 3,
        PendingRows: 0,
      },
    ])
    await handler(1, context())
    expect(lines().map(({ Sent }) => Sent)).toEqual([3, 2])
  })

  it('writes nothing for an invocation that counted nothing', async () => {
    const lines = listen()
    await createInstruments('outbox', 't').instrument(async () => 1)({}, context())
    expect(lines()).toEqual([])
  })

  it('writes the metrics of an invocation that fails, and lets it fail', async () => {
    const lines = listen()
    const { telemetry, instrument } = createInstruments('outbox', 't')
    const handler = instrument(async () => {
      telemetry.count('markFailed')
      throw new Error('no table')
    })
    await expect(handler({}, context())).rejects.toThrow('no table')
    expect(lines()).toMatchObject([{ MarkFailed: 1 }])
  })

  it('logs with the request’s id', async () => {
    const lines = listen()
    const { logger, instrument } = createInstruments('outbox', 't')
    await instrument(async () => logger.warn('entries not accepted', { entries: 3 }))({}, context())
    expect(lines()).toMatchObject([
      {
        level: 'WARN',
        service: 'outbox',
        function_request_id: 'request-1',
        message: 'entries not accepted',
        entries: 3,
      },
    ])
  })

  it('gives no answer before the handler has ended, however little time is left', async () => {
    listen()
    const { promise, resolve } = Promise.withResolvers<string>()
    const answer = createInstruments('shop', 't').instrument(() => promise)({}, context(0))
    const first = await Promise.race([answer, new Promise((later) => setTimeout(() => later('still running'), 20))])
    expect(first).toBe('still running')
    resolve('ended')
    expect(await answer).toBe('ended')
  })
})
