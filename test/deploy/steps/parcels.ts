import assert from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import type { Sample } from '../sample.ts'
import { readAll } from '../shop.ts'
import type { Step } from '../step.ts'
import { isReserved, ORDERS } from './orders.ts'

export const parcelsPrepared = (sample: Sample): Step => ({
  title: 'events of the bus, brought by a rule through a standard queue, handled once',
  run: async (world) => {
    const { shopTable } = sample.outputs()
    const expected = new Set(
      ORDERS.flat()
        .filter(isReserved)
        .map(({ orderId }) => `PARCEL#${orderId}`),
    )
    const parcels = await eventually(`${expected.size} parcels`, async () => {
      const found = (await readAll(world, shopTable)).filter(({ pk }) => String(pk).startsWith('PARCEL#'))
      return found.length >= expected.size && found
    })
    assert.deepEqual(new Set(parcels.map(({ pk }) => pk)), expected)
    for (const { pk, prepared } of parcels) assert.equal(prepared, 1, `times that ${pk} was prepared`)
    return `${parcels.length} parcels`
  },
})
