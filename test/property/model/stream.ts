import { rowState } from '../../../src/outbox/row.ts'
import type { StreamRecord } from '../../../src/relay/lambda-event.ts'
import { createRelay } from '../../../src/relay/relay.ts'
import { streamRecord } from '../../../src/testing/records.ts'
import { keyOf } from './engine/table.ts'
import type { Item } from './engine/values.ts'
import type { Process } from './process.ts'
import { relayOptions } from './relay-options.ts'
import { MAX_SILENT_REQUESTS, REGION, silent, type World } from './world.ts'

const FUNCTION_MS = 120_000
const BATCH_RECORDS = 10
/** Deliveries of one batch before it is given up. */
const DELIVERIES = 4

type Shard = { records: StreamRecord[]; isBusy: boolean }

export type Stream = { readonly replay: () => void; readonly isIdle: () => boolean }

/** The outbox table's stream and its mapping: shards of their own, whose records get lost, doubled and shuffled. */
export function openStream(world: World): Stream {
  const { scheduler, plan, luck, outbox, story } = world
  const { drops, doubles, shuffled, shards: size } = plan.stream
  const shards: Shard[] = Array.from({ length: size }, () => ({ records: [], isBusy: false }))
  const all: { readonly shard: Shard; readonly record: StreamRecord }[] = []
  let number = 0

  outbox.onChange(({ before, after }) => {
    const item = after ?? before
    number += 1
    const at = Math.floor(luck('shard', item?.pk?.S ?? '') * size)
    const shard = shards[at]
    if (item === undefined || shard === undefined) return
    const eventName = before === undefined ? 'INSERT' : after === undefined ? 'REMOVE' : 'MODIFY'
    const record = recordOf(after, { eventName, number, at: scheduler.now(), item })
    all.push({ shard, record })
    const isSilent = after?.body?.S?.includes('"flood":true') === true || item.pk?.S?.startsWith('H#') === true
    if (isSilent) return
    const fate = luck('fate', number)
    const times =
      eventName !== 'INSERT' && fate < 0.9 ? 0 : world.isCalm() || fate >= drops + doubles ? 1 : fate < drops ? 0 : 2
    if (times !== 1 && eventName === 'INSERT')
      story.tell(
        'stream',
        () => `record of ${item.pk?.S} ${Number(item.sk?.S) || ''} ${times === 0 ? 'lost' : 'doubled'}`,
      )
    for (let n = 0; n < times; n++) shard.records.push(record)
    scheduler.in(Math.floor(luck('window', number) * 400), () => poll(shard))
  })

  const poll = (shard: Shard): void => {
    if (shard.isBusy || shard.records.length === 0) return
    shard.isBusy = true
    const batch = shard.records.splice(0, BATCH_RECORDS)
    if (shuffled) batch.sort((a, b) => luck('order', numberOf(a)) - luck('order', numberOf(b)))
    deliver(shard, batch, 1)
  }
  const deliver = (shard: Shard, batch: readonly StreamRecord[], delivery: number): void => {
    const process = world.spawn('relay')
    const relay = createRelay({ ...relayOptions(world, process), logger: silent })
    const end = process.clock.now() + FUNCTION_MS
    let ended = false
    const finish = (left: readonly StreamRecord[]): void => {
      if (ended) return
      ended = true
      cancel()
      if (left.length > 0 && delivery < DELIVERIES)
        return void scheduler.in(1000, () => deliver(shard, left, delivery + 1))
      shard.isBusy = false
      scheduler.in(1, () => poll(shard))
    }
    const cancel = scheduler.in(FUNCTION_MS, () =>
      process.isFrozen() ? finish(batch) : process.kill('its time is over'),
    )
    process.onEnd(() => finish(batch))
    const context = { getRemainingTimeInMillis: () => end - process.clock.now() }
    relay({ Records: batch }, context).then(
      ({ batchItemFailures }) => {
        const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
        const first = batch.findIndex((record) => failed.has(numberOf(record)))
        checkReport(world, process, { batch, failed })
        world.ended(process)
        finish(first < 0 ? [] : batch.slice(first))
      },
      (error) => world.books.breach(`the relay threw ${String(error)}`),
    )
  }
  return {
    isIdle: () => shards.every(({ records, isBusy }) => records.length === 0 && !isBusy),
    replay: () => {
      story.tell('stream', `${all.length} records again`)
      for (const { shard, record } of all) shard.records.push(record)
      for (const shard of shards) poll(shard)
    },
  }
}

/** A relay whom nobody has answered hands everything back: the mapping tries again sooner than the sweeper. */
function checkReport(
  { tried, wire, books, outbox }: World,
  process: Process,
  { batch, failed }: { readonly batch: readonly StreamRecord[]; readonly failed: ReadonlySet<string> },
): void {
  const { requests, answered } = tried(process)
  if (requests > MAX_SILENT_REQUESTS && !answered)
    books.breach(`${process.name} sent ${requests} requests into silence`)
  const isTroubled = wire.met(process).some((met) => !met.endsWith('SendMessageBatch') || met.startsWith('freeze'))
  if (requests === 0 || answered || failed.size > 0 || isTroubled) return
  const left = batch.filter(({ eventName, dynamodb }) => {
    const item = outbox.slot(keyOf(dynamodb?.Keys as Item)).item
    return eventName === 'INSERT' && dynamodb?.NewImage?.region?.S === REGION && rowState(item?.shard?.S) === 'pending'
  })
  if (left.length > 0 && left.length === batch.length)
    books.breach(`${process.name} was never answered, and reports nothing`)
}

function recordOf(
  image: Item | undefined,
  {
    eventName,
    number,
    at,
    item,
  }: { eventName: 'INSERT' | 'MODIFY' | 'REMOVE'; number: number; at: number; item: Item },
): StreamRecord {
  const { pk, sk } = item
  const keys = { pk, sk } as never
  const newImage = image === undefined ? {} : { newImage: image as never }
  return streamRecord({ eventName, keys, sequence: number, createdAt: at, ...newImage }) as StreamRecord
}

function numberOf({ dynamodb }: StreamRecord): string {
  return dynamodb?.SequenceNumber ?? ''
}
