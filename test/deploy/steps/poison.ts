import assert from 'node:assert/strict'
import {
  type ActSummary,
  type DeadLetter,
  type DeadLetters,
  type EventView,
  type OutboxStatus,
  redriveMessages,
} from '../../../src/ops/index.ts'
import { runOutbox } from '../command.ts'
import { eventually } from '../eventually.ts'
import type { Sample } from '../sample.ts'
import { placeOrder, put, readAll, remove } from '../shop.ts'
import type { Step } from '../step.ts'
import type { World } from '../world.ts'
import { mailKey } from './handled.ts'

const POISON = { orderId: 'order-poison', customerId: 'customer-5', sku: 'tea', quantity: 1 }
const BLOCKED = `BLOCKED#${POISON.orderId}`
const HANDLER = 'shop/send-confirmation'

export const poisonDies = (sample: Sample): Step => ({
  title: 'a poison event is in the dead-letter queue',
  run: async (world) => {
    const { placeOrderFunction, shopTable, ledgerTable } = sample.outputs()
    await put(world, shopTable, { pk: BLOCKED })
    assert.equal(await placeOrder(world, placeOrderFunction, POISON), true)
    const letters = await eventually('a dead letter', async () => {
      const found = await lookAt(world, sample)
      return found.length > 0 && found
    })
    assert.deepEqual(
      letters.map(({ handlers }) => handlers),
      [[HANDLER]],
    )
    const dead = await eventually('its dead ledger entry', async () =>
      (await readAll(world, ledgerTable)).find(({ status }) => status === 'dead'),
    )
    assert.equal(dead['sk'], HANDLER)
    return `of ${HANDLER}, reason "${letters[0]?.reason}"`
  },
})

export const poisonRedriven = (sample: Sample): Step => ({
  title: 'its cause mended, the command shows and redrives it, and it is handled',
  run: async (world) => {
    const { shopTable, ledgerTable } = sample.outputs()
    await remove(world, shopTable, BLOCKED)
    await lookByCommand()
    const { code, json } = await runOutbox<ActSummary>('redrive', '--handler', HANDLER, '--yes', '--by', 'ann')
    assert.deepEqual([code, json.done, json.kept, json.left], [0, 1, 0, 0])
    const mail = await eventually('its mail', async () =>
      (await readAll(world, shopTable)).find(({ pk }) => pk === mailKey(POISON.orderId)),
    )
    assert.equal(mail['asked'], 1)
    await eventually('ledger entries that are all done', async () =>
      (await readAll(world, ledgerTable)).every(({ status }) => status === 'done'),
    )
    assert.deepEqual(await lookAt(world, sample), [], 'the dead-letter queue is empty')
    return undefined
  },
})

/** What an operator who has read the alarm types first. */
async function lookByCommand(): Promise<void> {
  const status = await runOutbox<OutboxStatus>('status')
  assert.equal(status.code, 1)
  const letters = status.json.consumers.map(({ name, deadLetters }) => [name, deadLetters.visible])
  assert.deepEqual(Object.fromEntries(letters), { shop: 1, shipping: 0 })
  const listed = await runOutbox<DeadLetters>('dead-letters')
  assert.deepEqual(
    listed.json.groups.map(({ handler, count }) => [handler, count]),
    [[HANDLER, 1]],
  )
  const { json: view } = await runOutbox<EventView>('show', listed.json.groups[0]?.example ?? '')
  assert.equal(view.row?.type, 'order.confirmation-requested')
  assert.deepEqual(
    view.handlers.map(({ name, status }) => [name, status]),
    [[HANDLER, 'dead']],
  )
}

/** What is in the dead-letter queue, left there. */
async function lookAt(world: World, sample: Sample): Promise<DeadLetter[]> {
  const letters: DeadLetter[] = []
  await redriveMessages(queueOf(world, sample), (letter) => {
    letters.push(letter)
    return false
  })
  return letters
}

function queueOf({ sqs }: World, sample: Sample) {
  const { queueUrl, deadLetterQueueUrl } = sample.outputs()
  return { client: sqs, queueUrl, deadLetterQueueUrl }
}
