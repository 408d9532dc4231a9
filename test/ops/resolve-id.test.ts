import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventId } from '../../src/event/identity.ts'
import { resolveIds } from '../../src/ops/resolve-id.ts'
import { deadAs, type Operated, openOperated } from '../support/operated.ts'
import { unorderedRow } from '../support/outbox-rows.ts'

let world: Operated
beforeAll(async () => {
  world = await openOperated()
})
afterAll(() => world.aws.stop())

/** Two keys whose ids begin with the same six characters. */
function twins(): readonly [string, string] {
  const seen = new Map<string, string>()
  for (let n = 0; ; n += 1) {
    const key = `k${n}`
    const beginning = eventId({ source: 'shop', key }).slice(0, 6)
    const other = seen.get(beginning)
    if (other !== undefined) return [other, key]
    seen.set(beginning, key)
  }
}

it('finds whole ids of dead and pending events by their first characters; an ambiguous beginning is refused', async () => {
  const [one, other] = twins()
  const idOf = (key: string) => eventId({ source: 'shop', key })
  await world.putRow(deadAs(unorderedRow(one), 'no'))
  await world.putRow(unorderedRow('waits'))
  expect(await resolveIds(world.system, [idOf(one).slice(0, 6), idOf('waits').slice(0, 9)])).toEqual([
    idOf(one),
    idOf('waits'),
  ])
  await world.putRow(deadAs(unorderedRow(other), 'no'))
  await expect(resolveIds(world.system, [idOf(one).slice(0, 6)])).rejects.toThrow(
    /2 events have an id that begins so: .*more characters/,
  )
  const longer = [idOf(one), idOf(other)].map((id) => id.slice(0, 20))
  expect(await resolveIds(world.system, longer)).toEqual([idOf(one), idOf(other)])
  await expect(resolveIds(world.system, ['ffffffffff'])).rejects.toMatchObject({ code: 'INVALID_SETTING' })
  // A whole id is not looked for, and what is no beginning of one is somebody else's id.
  expect(await resolveIds(world.system, ['f'.repeat(64), 'foreign-id/1'])).toEqual(['f'.repeat(64), 'foreign-id/1'])
})
