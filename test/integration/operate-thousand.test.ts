import { afterAll, beforeAll, expect, it } from 'vitest'
import { EXIT } from '../../src/cli/io.ts'
import { on } from '../../src/consumer/handler.ts'
import { permanentError } from '../../src/errors.ts'
import type { Event } from '../../src/event/event.ts'
import { redrive } from '../../src/ops/redrive.ts'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { waitFor } from '../../src/testing/wait.ts'
import { proves } from '../cases.ts'
import { connectCommand, runCommand } from '../support/command-line.ts'
import { type DeadEvent, dieAll, numbers, putDeadRows } from '../support/many-dead-letters.ts'
import { type Operated, openOperated } from '../support/operated.ts'
import { silent } from '../support/pipeline.ts'

let world: Operated
let where: readonly string[]
beforeAll(async () => {
  world = await openOperated()
  where = await connectCommand(world.system)
})
afterAll(() => world.aws.stop())

const MAIL = numbers(1, 500)
const CUSTOMERS = numbers(1, 40).map((n) => `customer-${n}`)
const OF_A_CUSTOMER = numbers(1, 10)
const PARCELS = numbers(501, 600)

/** Three causes, as they would be met together: mailboxes that are full, no stock for whole groups, rows that were refused. */
async function dieThousandfold() {
  const mail = MAIL.map((n): DeadEvent => {
    return { n, type: 'mail', handler: 'shop/mail', reason: `Error: mailbox ${n} is full` }
  })
  const stock = OF_A_CUSTOMER.flatMap((n) =>
    CUSTOMERS.map((group): DeadEvent => {
      return { n, group, type: 'stock', handler: 'shop/stock', reason: 'Error: no stock' }
    }),
  )
  await dieAll(world, [...mail.slice(0, 250), ...stock, ...mail.slice(250)])
  await putDeadRows(world, PARCELS, 'parcel', 'InvalidMessageContents')
}

async function command(...argv: readonly string[]) {
  const { code, out, err } = await runCommand([...argv, '--json', ...where])
  expect(err).toBe('')
  return { code, ...JSON.parse(out) }
}

const deadLetters = () => world.depths().deadLetters

it('of a thousand dead letters, each cause is counted, one is redriven alone, then all; everything is handled once, groups in order', {
  ...proves('operate-dead-letters'),
  timeout: 300_000,
}, async () => {
  await dieThousandfold()
  const listed = await command('dead-letters')
  expect(listed).toMatchObject({ code: EXIT.incomplete, total: 1000, hidden: 0 })
  const counts = listed.groups.map((group: Record<string, unknown>) => [
    group['handler'],
    group['failure'],
    group['count'],
  ])
  expect(counts).toEqual([
    ['shop/mail', 'Error: mailbox # is full', 500],
    ['shop/stock', 'Error: no stock', 400],
    ['relay', 'InvalidMessageContents', 100],
  ])

  const handled: Event[] = []
  const handle = (event: Event) => void handled.push(event)
  world.aws.startConsumer({
    queue: world.queue,
    name: 'shop',
    logger: silent,
    handlers: [on('mail', 'mail', handle), on('stock', 'stock', handle), on('parcel', 'ship', handle)],
  })
  const of = (type: string) => handled.filter((event) => event.type === type)

  const one = await command('redrive', '--handler', 'shop/stock', '--failure', 'no stock', '--yes')
  expect(one).toMatchObject({ code: EXIT.ok, done: 400, kept: 0, left: 600, hidden: 0 })
  await waitFor(() => of('stock').length >= 400, { timeoutMs: 60_000 })
  expect(deadLetters()).toMatchObject({ visible: 500, invisible: 0 })
  expect(handled).toHaveLength(400)

  const all = await command('redrive', '--all', '--yes')
  expect(all).toMatchObject({ code: EXIT.ok, done: 600, kept: 0, left: 0, hidden: 0 })
  const sweeper = world.aws.startSweeper({ queue: world.queue, logger: silent })
  await sweeper.run()
  await waitFor(() => handled.length >= 1000, { timeoutMs: 60_000, describe: () => `${1000 - handled.length} events` })
  await world.aws.idle({ timeoutMs: 30_000 })
  expect(handled).toHaveLength(1000)
  expect(new Set(handled.map(({ id }) => id)).size).toBe(1000)
  expect(['mail', 'stock', 'parcel'].map((type) => of(type).length)).toEqual([500, 400, 100])
  for (const customer of CUSTOMERS)
    expect(of('stock').flatMap(({ group, sequence }) => (group === customer ? [sequence] : []))).toEqual(OF_A_CUSTOMER)
  expect(await command('dead-letters')).toMatchObject({ code: EXIT.ok, total: 0 })
})

it('what is redriven within five minutes of its first send is delivered', {
  ...proves('redrive-within-dedup'),
  timeout: 120_000,
}, async () => {
  const soon = await openOperated()
  try {
    const { aws, queue, system } = soon
    const runs: boolean[] = []
    let mended = false
    const handle = (_: Event, { redriven }: { readonly redriven: boolean }) => {
      runs.push(redriven)
      if (!mended) throw permanentError('no paper')
    }
    const began = aws.clock.now()
    await aws.startRelay({ queue, logger: silent })
    aws.startConsumer({ queue, name: 'shop', logger: silent, handlers: [on('letter', 'print', handle)] })
    const outbox = createOutbox({ client: aws.dynamo, tableName: aws.outboxTable, clock: aws.clock })
    await outbox.transact({ events: [{ source: 'shop', key: '1', type: 'letter', data: {} }] })
    await waitFor(() => soon.depths().deadLetters.visible === 1, { timeoutMs: 60_000 })
    mended = true
    expect(await redrive(system, { select: { handler: 'shop/print' }, by: 'ann' })).toMatchObject({ done: 1 })
    await waitFor(() => runs.length === 2, { timeoutMs: 60_000 })
    expect(aws.clock.now() - began).toBeLessThan(300_000)
    await aws.idle({ timeoutMs: 60_000 })
    expect(runs).toEqual([false, true])
  } finally {
    await soon.aws.stop()
  }
})
