import { redriveMessages } from '../../../src/ops/redrive-messages.ts'
import { redriveRow } from '../../../src/ops/redrive-row.ts'
import { rowState } from '../../../src/outbox/row.ts'
import { committedOf, count } from './books.ts'
import { CONSUMERS, HANDLERS } from './plan.ts'
import type { World } from './world.ts'

/** Redrives every dead row there is, each by its event's id. */
export async function redriveRows(world: World): Promise<void> {
  const process = world.spawn('operator')
  const client = world.dynamo.clientFor(process)
  const dead = world.outbox.items().filter(({ shard }) => rowState(shard?.S) === 'dead')
  for (const item of dead) {
    const id = committedOf(item, 0)?.id ?? ''
    await redriveRow({ client, tableName: 'outbox', clock: process.clock }, id).catch(() => undefined)
  }
}

/** One pass over each dead-letter queue; with `all` false nothing is picked, and everything must be visible again. */
export async function redriveLetters(world: World, all = true): Promise<void> {
  const process = world.spawn('operator')
  const client = world.sqs.clientFor(process)
  for (const { queue } of CONSUMERS) {
    const deadLetters = world.queue(queue.replace('.', '-dead.'))
    if (deadLetters.depth().visible + deadLetters.depth().invisible === 0) continue
    // Held by another operator, who died or stands still.
    const held = deadLetters.depth().invisible
    const urls = { queueUrl: world.queue(queue).url, deadLetterQueueUrl: deadLetters.url }
    await redriveMessages({ client, ...urls }, () => all).catch(() => undefined)
    if (!all && held === 0 && deadLetters.depth().invisible > 0)
      world.books.breach(`${deadLetters.name}: what was left is hidden`)
  }
}

/** What the AWS console does: body, group and attributes as they are, under a new id; then it deletes. */
export async function redriveByHand(world: World): Promise<void> {
  for (const { queue } of CONSUMERS) {
    const deadLetters = world.queue(queue.replace('.', '-dead.'))
    for (const { body, attributes, groupId, handle = '', messageId } of deadLetters.receive(10)) {
      const again = {
        MessageBody: body,
        MessageAttributes: attributes,
        MessageGroupId: groupId ?? '',
        MessageDeduplicationId: `by-hand-${messageId}`,
      }
      await world.sqs.put(queue, { Id: '0', ...again })
      deadLetters.delete(handle)
    }
  }
}

/**
 * Somebody sends an event's message again as it was, from an archive. As long as the ledger knows it nothing happens; once
 * it has forgotten, it is handled again.
 */
export async function sendAgain({ books, scheduler, sqs, ledger }: World): Promise<void> {
  const row = books.committed.find(({ type, identity }) => type === 'one' && 'group' in identity)
  if (row === undefined || !('group' in row.identity)) return
  const at = scheduler.now()
  const entries = HANDLERS.map((handler) => ledger.slot(`${row.id}\0a/${handler}`).item)
  if (entries.some((entry) => entry?.status?.S !== 'done')) return
  const forgotten = entries.map((entry) => Number(entry?.expires?.N) * 1000 <= at - CLOCKS_MS)
  if (forgotten.includes(true) && forgotten.includes(false)) return
  if (forgotten[0] === true) {
    if (books.again.has(row.id)) return
    count(books.again, row.id)
  }
  const MessageGroupId = `shop/${row.identity.group}`
  await sqs.put('q1.fifo', { Id: '0', MessageBody: row.body, MessageGroupId, MessageDeduplicationId: `again-${at}` })
}

/** More than clocks differ. ms */
const CLOCKS_MS = 300_000
