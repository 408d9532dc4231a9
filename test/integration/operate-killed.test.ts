import { afterEach, beforeEach, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import type { Event } from '../../src/event/event.ts'
import { waitFor } from '../../src/testing/wait.ts'
import { proves } from '../cases.ts'
import { seededRandom } from '../demo/chance.ts'
import { type CommandProcess, openCommandProcess } from '../support/command-process.ts'
import { bodyOf } from '../support/consumer-kit.ts'
import { type DeadEvent, dieAll, numbers, putAll, putDeadRows, WRITTEN } from '../support/many-dead-letters.ts'
import { type Operated, openOperated } from '../support/operated.ts'
import { orderedRow, relayedRow } from '../support/outbox-rows.ts'
import { silent } from '../support/pipeline.ts'

let world: Operated
let command: CommandProcess
beforeEach(async () => {
  // What a killed process held is seen again after 120 s of this clock.
  world = await openOperated({ speed: 20, onFunctionError: () => {} })
  const { dynamoEndpoint, sqsEndpoint } = world.aws.address
  command = await openCommandProcess(world.system, { dynamo: dynamoEndpoint, sqs: sqsEndpoint })
}, 60_000)
afterEach(async () => {
  await command?.close()
  await world.aws.stop()
})

const KILLS = 10
const ESTIMATE = /^Reading the whole table: .*\n/
const CUSTOMERS = numbers(1, 10).map((n) => `customer-${n}`)

/** Runs it ten times, killed at a request drawn for each, then once to its end. */
async function killTenTimes(argv: readonly string[], { seed, upTo }: { seed: number; upTo: number }) {
  const random = seededRandom(seed)
  for (let n = 1; n <= KILLS; n++) {
    const request = 1 + Math.floor(random() * upTo)
    const moment = random() < 0.5 ? 'before' : 'after'
    const { killed, err } = await command.run(argv, { request, moment })
    expect([killed, err.replace(ESTIMATE, '')], `run ${n}, killed ${moment} request ${request}`).toEqual([true, ''])
  }
  await waitFor(() => world.depths().deadLetters.invisible === 0, { timeoutMs: 30_000 })
  const { code, out, err } = await command.run(argv)
  expect([code, err.replace(ESTIMATE, '')]).toEqual([0, ''])
  return JSON.parse(out)
}

/** Starts the consumer; gives what it has handled so far. */
function startConsumer(): readonly Event[] {
  const handled: Event[] = []
  const handle = (event: Event) => void handled.push(event)
  world.aws.startConsumer({
    queue: world.queue,
    name: 'shop',
    logger: silent,
    handlers: [
      on('mail', 'mail', handle),
      on('stock', 'stock', handle),
      on('parcel', 'ship', handle),
      on('step', 'count', handle),
      on('step', 'other', () => void handled.push(NEVER)),
    ],
  })
  world.aws.startSweeper({ queue: world.queue, logger: silent })
  return handled
}
const NEVER = { id: 'a handler that was not named' } as Event

it('a redrive that is killed at ten random requests and run again loses nothing, and nothing is handled twice', {
  ...proves('operate-dead-letters', 'redrive-within-dedup'),
  timeout: 300_000,
}, async () => {
  const mail = numbers(1, 60).map((n): DeadEvent => ({ n, type: 'mail', handler: 'shop/mail', reason: 'full' }))
  const stock = numbers(1, 6).flatMap((n) =>
    CUSTOMERS.map((group): DeadEvent => ({ n, group, type: 'stock', handler: 'shop/stock', reason: 'no stock' })),
  )
  await dieAll(world, [...stock, ...mail])
  await putDeadRows(world, numbers(101, 140), 'parcel', 'InvalidMessageContents')
  const handled = startConsumer()
  const { kept, hidden } = await killTenTimes(['redrive', '--all', '--yes', '--json'], { seed: 1, upTo: 25 })
  expect([kept, hidden]).toEqual([0, 0])

  await waitFor(() => handled.length >= 160, { timeoutMs: 60_000, describe: () => `${160 - handled.length} events` })
  await world.aws.idle({ timeoutMs: 30_000 })
  expect(handled).toHaveLength(160)
  expect(new Set(handled.map(({ id }) => id)).size).toBe(160)
  expect(world.depths().deadLetters).toMatchObject({ visible: 0, invisible: 0 })
})

it('a replay that is killed at ten random requests and run again replays every event once, groups in order', {
  ...proves('replay-to-done-handler'),
  timeout: 300_000,
}, async () => {
  const rows = numbers(1, 12).flatMap((n) =>
    CUSTOMERS.map((group) => {
      const options = { source: 'test', type: 'step', body: bodyOf({ n, group, type: 'step', life: WRITTEN }) }
      return relayedRow(orderedRow(group, n, options))
    }),
  )
  await putAll(world.aws, world.aws.outboxTable, rows)
  const handled = startConsumer()
  const argv = ['replay', '--source', 'test', '--handler', 'shop/count', '--per-second', '1000', '--yes', '--json']
  const { replayed, before, left, whole } = await killTenTimes(argv, { seed: 2, upTo: 20 })
  expect([(replayed ?? 0) + (before ?? 0), left, whole]).toEqual([120, 0, true])

  await waitFor(() => handled.length >= 120, { timeoutMs: 60_000, describe: () => `${120 - handled.length} events` })
  await world.aws.idle({ timeoutMs: 30_000 })
  for (const customer of CUSTOMERS)
    expect(handled.flatMap(({ group, sequence }) => (group === customer ? [sequence] : []))).toEqual(numbers(1, 12))
  expect(handled).toHaveLength(120)
})
