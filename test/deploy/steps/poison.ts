import assert from 'node:assert/strict'
import { type DeadLetter, redriveMessages } from '../../../src/ops/index.ts'
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
  title: 'its cause mended, it is redriven and handled',
  run: async (world) => {
    const { shopTable, ledgerTable } = sample.outputs()
    await remove(world, shopTable, BLOCKED)
    const report = await redriveMessages(queueOf(world, sample), () => true)
    assert.deepEqual(report, { redriven: 1, failed: 0, left: 0 })
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
