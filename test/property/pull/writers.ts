import { redriveRow } from '../../../src/ops/redrive-row.ts'
import { pullShard, rowKey, rowState } from '../../../src/outbox/row.ts'
import { keyOf } from '../model/engine/table.ts'
import { REGION } from '../stage/stage.ts'
import type { Odd, Step } from './plan.ts'
import { idOf } from './row-rules.ts'
import { outboxOf, SOURCE, TYPE, type World } from './world.ts'

const EVENT = { source: SOURCE, type: TYPE, data: {} }

/** Steps that write. */
export async function perform(world: World, step: Step, number: number): Promise<void> {
  switch (step.do) {
    case 'ordered':
      return transact(world, ordered(step.group, step.count))
    case 'flood':
      return transact(world, ordered('deep', step.count))
    case 'keyed':
      return transact(world, [{ ...EVENT, key: step.key }])
    case 'odd':
      return putOdd(world, step.kind, number)
    case 'redrive':
      await Promise.all(Array.from({ length: step.operators }, () => redriveAll(world)))
  }
}

function ordered(group: string, count: number) {
  return Array.from({ length: count }, () => ({ ...EVENT, group, sequence: 'auto' as const }))
}

/** A key that is there already is no news. */
async function transact(world: World, events: Parameters<ReturnType<typeof outboxOf>['transact']>[0]['events']) {
  await outboxOf(world, world.spawn('writer')).transact({ events: events ?? [] })
}

/** What another Region, a broken program or a later version has written. */
function putOdd({ outbox, scheduler }: World, kind: Odd, number: number): void {
  const key = rowKey({ source: SOURCE, key: `${kind}-${number}` })
  const now = String(scheduler.now())
  const item = {
    pk: { S: key.pk },
    sk: { S: key.sk },
    v: { N: kind === 'newer' ? '2' : '1' },
    region: { S: kind === 'elsewhere' ? 'ap-south-2' : REGION },
    type: { S: TYPE },
    body: { S: kind === 'malformed' ? '{' : '{}' },
    created: { N: now },
    due: { N: now },
    shard: { S: pullShard(key) ?? '' },
  }
  outbox.change(keyOf(item), item)
}

/** Brings every dead row back that can be understood. */
export async function redriveAll(world: World): Promise<void> {
  const process = world.spawn('operator')
  const table = { client: world.clientFor(process), tableName: 'outbox', clock: process.clock }
  const dead = world.outbox.items().filter(({ shard, pk }) => {
    return rowState(shard?.S) === 'dead' && !pk?.S?.includes('malformed')
  })
  for (const row of dead) await redriveRow(table, idOf(row)).catch(() => undefined)
}
