import { type Consumer, createConsumer } from '../../../src/consumer/consumer.ts'
import { on } from '../../../src/consumer/handler.ts'
import type { HandlerContext } from '../../../src/consumer/handler-context.ts'
import { createSqsQueue } from '../../../src/consumer/sqs-queue.ts'
import { createLedger } from '../../../src/ledger/dynamo-ledger.ts'
import { replay } from '../../../src/ops/replay.ts'
import { rowState } from '../../../src/outbox/row.ts'
import { createSqsPublisher } from '../../../src/relay/sqs-publisher.ts'
import { createSweeper } from '../../../src/relay/sweeper.ts'
import type { Process } from '../model/process.ts'
import { consume } from '../stage/consume.ts'
import { REGION, silent } from '../stage/stage.ts'
import type { Run, Selection } from './plan.ts'
import type { Round } from './replay-rules.ts'
import { CONSUMERS, ROUTES, SOURCE, type World } from './world.ts'

/** Far more often than in the field, so that sweeps meet replays. ms */
const SWEEP_EVERY_MS = 4000
const FUNCTION_MS = 58_000

/** One operator who replays, in a process of its own. */
export async function replayOnce(world: World, rounds: readonly Round[], run: Run): Promise<void> {
  const { dynamo, sqs, orders, spawn } = world
  const process = spawn('operator')
  orders.set(process, run)
  const { selection, perSecond, again } = run
  const { type, handlers } = selection
  const system = {
    dynamo: dynamo.clientFor(process),
    sqs: sqs.clientFor(process),
    outboxTable: 'outbox',
    consumers: [],
    clock: process.clock,
  }
  const options = { source: SOURCE, handlers, by: 'somebody', perSecond, again, onEstimate: () => true }
  const latest = (): Round | undefined => rounds.findLast((round) => isSame(round.selection, selection))
  const known = latest()
  const hadEnded = known?.ended === true
  const all = { ...options, ...(type === undefined ? {} : { type }) }
  const summary = await replay(system, all).catch(() => undefined)
  const isSaid = summary === undefined || (summary.ended !== undefined && summary.replayed === 0)
  // Unless somebody has begun it anew meanwhile.
  if (hadEnded && !again && latest() === known && !isSaid)
    world.breach(`${process.name} is not told that his replay had ended`)
}

function isSame(one: Selection, other: Selection): boolean {
  return one.type === other.type && `${one.handlers}` === `${other.handlers}`
}

/** Two of them, one after the other and beside each other, as long as anything waits. */
export function startSweepers(world: World): void {
  const { scheduler, outbox, luck, spawn, dynamo } = world
  const sweep = (): void => {
    const process = spawn('sweeper')
    const client = world.sqs.clientFor(process)
    const publishers = new Map(
      CONSUMERS.map(({ queue }) => [queue as string, createSqsPublisher({ client, queueUrl: world.queue(queue).url })]),
    )
    const routes = Object.entries(ROUTES).map(([type, queues]) => ({
      type,
      to: queues.flatMap((queue) => publishers.get(queue) ?? []),
    }))
    const { clock } = process
    const parts = {
      client: dynamo.clientFor(process),
      tableName: 'outbox',
      routes,
      region: REGION,
      clock,
      logger: silent,
    }
    const end = clock.now() + FUNCTION_MS
    const cancel = scheduler.in(FUNCTION_MS, () => process.kill('its time is over'))
    const context = { getRemainingTimeInMillis: () => end - clock.now() }
    void createSweeper(parts)({}, context).then(cancel, cancel)
  }
  for (const n of [1, 2]) {
    const tick = (): void => {
      if (outbox.items().some(({ shard }) => rowState(shard?.S) === 'pending')) sweep()
      scheduler.in(SWEEP_EVERY_MS * (0.5 + luck('tick', n, scheduler.now())), tick)
    }
    scheduler.in(SWEEP_EVERY_MS * luck('sweeper', n), tick)
  }
}

export function startConsumers(world: World): void {
  for (const consumer of CONSUMERS)
    consume(world, world.queue(consumer.queue), (process) => consumerOf(world, process, consumer))
}

/** Each handler adds one to a count of its own, with its claim. */
function consumerOf(
  { dynamo, sqs, queue }: World,
  process: Process,
  { name, queue: from, handlers }: (typeof CONSUMERS)[number],
): Consumer {
  const { clock } = process
  const urls = { queueUrl: queue(from).url, deadLetterQueueUrl: queue(from.replace('.', '-dead.')).url }
  const count =
    (handler: string) =>
    (event: { readonly id: string }, { commit }: HandlerContext) => {
      const Update = {
        TableName: 'data',
        Key: { pk: { S: `${event.id} ${name}/${handler}` }, sk: { S: '-' } },
        UpdateExpression: 'ADD n :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
      }
      return commit([{ Update }])
    }
  const types = Object.entries(ROUTES).flatMap(([type, queues]) => (queues.includes(from) ? [type] : []))
  return createConsumer({
    name,
    clock,
    logger: silent,
    ledger: createLedger({ client: dynamo.clientFor(process), tableName: 'ledger', clock }),
    queue: createSqsQueue({ client: sqs.clientFor(process), ...urls }),
    handlers: types.flatMap((type) => handlers.map((handler) => on(type, handler, count(handler)))),
  })
}
