import { redriveRow } from '../../../src/ops/dynamo-redrive-row.ts'
import { redriveMessages } from '../../../src/ops/redrive-messages.ts'
import { rowState } from '../../../src/outbox/row.ts'
import { committedOf, count } from './books.ts'
import { CONSUMERS } from './plan.ts'
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
    const urls = { queueUrl: world.queue(queue).url, deadLetterQueueUrl: deadLetters.url }
    await redriveMessages({ client, ...urls }, () => all).catch(() => undefined)
    if (!all && deadLetters.depth().invisible > 0) world.books.breach(`${deadLetters.name}: what was left is hidden`)
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

/** Somebody sends the first event's message again as it was, from an archive. */
export async function sendAgain(world: World): Promise<void> {
  const [row] = world.books.committed.filter(({ type, identity }) => type === 'one' && 'key' in identity)
  if (row === undefined) return
  const at = world.scheduler.now()
  count(world.books.again, row.id)
  await world.sqs.put('q1.fifo', {
    Id: '0',
    MessageBody: row.body,
    MessageGroupId: row.id,
    MessageDeduplicationId: `again-${at}`,
  })
}
