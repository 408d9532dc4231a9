import assert from 'node:assert/strict'
import { GetEventSourceMappingCommand, UpdateEventSourceMappingCommand } from '@aws-sdk/client-lambda'
import { rowState } from '../../../src/outbox/row.ts'
import { eventually } from '../eventually.ts'
import type { Sample } from '../sample.ts'
import { placeOrder, readAll } from '../shop.ts'
import type { Step } from '../step.ts'
import type { World } from '../world.ts'
import { mailKey } from './handled.ts'
import { isEvent, isRelayed } from './relayed.ts'

const LATE = { orderId: 'order-late', customerId: 'customer-6', sku: 'tea', quantity: 1 }

export const streamPathOff = (sample: Sample): Step => ({
  title: 'the relay’s mapping is disabled, and an order placed: its rows stay pending',
  run: async (world) => {
    const { placeOrderFunction, outboxTable } = sample.outputs()
    await setMapping(world, sample, false)
    assert.equal(await placeOrder(world, placeOrderFunction, LATE), true)
    const pending = (await readAll(world, outboxTable)).filter(({ shard }) => rowState(shard) === 'pending')
    assert.equal(pending.length, 2)
    return undefined
  },
})

/** The rows belong to the stream path for two minutes; what runs in between is time not waited. */
export const sweeperDelivers = (sample: Sample): Step => ({
  title: 'the sweeper, on its schedule, has delivered it',
  run: async (world) => {
    const { shopTable, outboxTable } = sample.outputs()
    await eventually('the late order’s effects', async () => hasEffects(world, shopTable), { seconds: 240 })
    await setMapping(world, sample, true)
    await eventually('all rows to be relayed', async () =>
      (await readAll(world, outboxTable)).filter(isEvent).every(isRelayed),
    )
    assert(await hasEffects(world, shopTable), 'what the stream brings late is not sent again')
    return 'the mapping is enabled again, and goes on where it was'
  },
})

async function hasEffects(world: World, shopTable: string): Promise<boolean> {
  const items = await readAll(world, shopTable)
  const mail = items.find(({ pk }) => pk === mailKey(LATE.orderId))
  const reservation = items.find(({ orderId, outcome }) => orderId === LATE.orderId && outcome === 'reserved')
  return mail?.['asked'] === 1 && reservation !== undefined
}

async function setMapping({ lambda }: World, sample: Sample, Enabled: boolean): Promise<void> {
  const { relayMappingId: UUID } = sample.outputs()
  await lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled }))
  const wanted = Enabled ? 'Enabled' : 'Disabled'
  await eventually(`a mapping that is ${wanted}`, async () => {
    const { State } = await lambda.send(new GetEventSourceMappingCommand({ UUID }))
    return State === wanted
  })
}
