import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { ListEventBusesCommand } from '@aws-sdk/client-eventbridge'
import { ListQueuesCommand } from '@aws-sdk/client-sqs'
import type { Context } from 'aws-lambda'
import fc from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import {
  createDynamoClient,
  createEventBridgeClient,
  createSqsClient,
} from '../../../../functions/runtime/aws-clients.ts'
import { createInstruments } from '../../../../functions/runtime/instruments.ts'
import { runs } from '../../runs.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** What a handler does: how long it runs, and how it ends. Real milliseconds. */
const run = fc.record({
  runsMs: fc.integer({ min: 0, max: 25 }),
  remainingMs: fc.integer({ min: 0, max: 25 }),
  ends: fc.constantFrom('well', 'badly'),
})

it('a function of any length answers when its handler has ended, and never before, however little time is left', async () => {
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockImplementation(() => true)
  const { instrument } = createInstruments('shop', 'table')
  await fc.assert(
    fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 8 }), async (runs) => {
      const seen = await Promise.all(
        runs.map(async ({ runsMs, remainingMs, ends }) => {
          const until = performance.now() + remainingMs
          const context = { getRemainingTimeInMillis: () => Math.max(0, until - performance.now()) } as Context
          let hasEnded = false
          const handle = instrument(async () => {
            await delay(runsMs)
            hasEnded = true
            if (ends === 'badly') throw new Error('of its own')
          })
          await handle({}, context).catch(() => {})
          return hasEnded
        }),
      )
      expect(seen).toEqual(runs.map(() => true))
    }),
    runs(20),
  )
})

/** Answers some requests at once, and never the others. */
async function startMoody(moods: readonly boolean[]): Promise<Server> {
  let requests = 0
  const server = createServer((_, response) => {
    if (moods[requests++ % moods.length])
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** What relay and sweeper give a call, and some for a slow machine. */
const LONGEST_MS = 6000

it('a call of any client ends in time, whichever of its requests are answered', { timeout: 60_000 }, async () => {
  const [moods = []] = fc.sample(fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }), { numRuns: 1, seed: 1 })
  const server = await startMoody(moods)
  vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  vi.stubEnv('AWS_REGION', 'eu-west-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local')
  const [dynamo, sqs, events] = [createDynamoClient(), createSqsClient(), createEventBridgeClient()]
  const calls = Array.from({ length: 12 }, () => [
    dynamo.send(new ListTablesCommand()),
    sqs.send(new ListQueuesCommand()),
    events.send(new ListEventBusesCommand()),
  ])
  const all = Promise.allSettled(calls.flat())
  const ends = await Promise.race([all, delay(LONGEST_MS, [])])
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  expect(ends).toHaveLength(36)
  // Some were answered, at once or when they were tried again, and some never.
  expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(['fulfilled', 'rejected']))
})
