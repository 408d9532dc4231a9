import { createConsumer } from '../../../src/consumer/consumer.ts'
import { type Handler, on } from '../../../src/consumer/handler.ts'
import type { HandlerContext } from '../../../src/consumer/handler-context.ts'
import { createSqsQueue } from '../../../src/consumer/sqs-queue.ts'
import { permanentError } from '../../../src/errors.ts'
import type { Event } from '../../../src/event/event.ts'
import { createLedger } from '../../../src/ledger/dynamo-ledger.ts'
import type { Process } from '../model/process.ts'
import { consume } from '../stage/consume.ts'
import { type Stage, silent } from '../stage/stage.ts'
import { checkEnd, unfinished, watchEffects } from './end-rules.ts'
import { createOperators } from './operator.ts'
import type { RedrivePlan } from './plan.ts'
import { CONSUMER, HANDLERS, MAX_ATTEMPTS, openWorld, TYPE, type World } from './world.ts'

/** How long the trouble lasts after the last pass, and how long a calm world may take to its end. ms */
const TROUBLE_MS = 300_000
const DRAIN_MS = 4 * 3_600_000
const EVERY_MS = 150_000

/** Plays a plan from its beginning to its end. */
export async function play(plan: RedrivePlan): Promise<Stage> {
  const world = await openWorld(plan)
  const { scheduler, breaches, queue } = world
  watchEffects(world)
  consume(world, queue, (process) => consumerOf(world, process))
  const { pass } = createOperators(world)
  const begun = scheduler.now()
  const isBroken = (): boolean => breaches.length > 0
  for (const { at, operators, select } of plan.passes)
    for (let n = 0; n < operators; n++) scheduler.at(begun + at * 1000 + n, () => void pass(select))
  const last = Math.max(...plan.passes.map(({ at }) => at))
  await scheduler.run(isBroken, begun + last * 1000 + TROUBLE_MS)
  if (isBroken()) return world
  world.calm()
  let over = false
  const operate = (): void => {
    if (over) return
    void pass('all')
    scheduler.in(EVERY_MS, operate)
  }
  operate()
  await scheduler.run(() => isBroken() || unfinished(world).length === 0, scheduler.now() + DRAIN_MS)
  over = true
  if (!isBroken()) checkEnd(world)
  return world
}

function consumerOf(world: World, process: Process) {
  const { dynamo, sqs, queue, deadLetters } = world
  const { clock } = process
  const handlers = HANDLERS.map((name): Handler => {
    const run = (event: Event, context: HandlerContext) =>
      handle(world, { name: `${CONSUMER}/${name}`, event, context })
    return on(TYPE, name, run, { maxAttempts: MAX_ATTEMPTS })
  })
  const urls = { queueUrl: queue.url, deadLetterQueueUrl: deadLetters.url }
  return createConsumer({
    name: CONSUMER,
    clock,
    logger: silent,
    ledger: createLedger({ client: dynamo.clientFor(process), tableName: 'ledger', clock }),
    queue: createSqsQueue({ client: sqs.clientFor(process), ...urls }),
    handlers,
  })
}

type Call = { readonly name: string; readonly event: Event; readonly context: HandlerContext }

async function handle(world: World, { name, event, context }: Call): Promise<unknown> {
  const act = world.nextAct(event.id, name)
  world.story.tell(name, () => `runs for ${world.story.nameOf(event.id)}: ${act}`)
  if (act === 'permanent') throw permanentError('broken for good')
  if (act === 'throw') throw new Error('broken')
  const Update = {
    TableName: 'data',
    Key: { pk: { S: `${event.id} ${name}` }, sk: { S: '-' } },
    UpdateExpression: 'ADD n :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  }
  return context.commit([{ Update }])
}
