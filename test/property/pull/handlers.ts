import { type Handler, on } from '../../../src/consumer/handler.ts'
import type { HandlerContext } from '../../../src/consumer/handler-context.ts'
import { runPullWorker } from '../../../src/consumer/run-pull-worker.ts'
import { OutboxError, permanentError } from '../../../src/errors.ts'
import type { Event } from '../../../src/event/event.ts'
import { createLedger } from '../../../src/ledger/dynamo-ledger.ts'
import type { CallIn } from '../model/handlers.ts'
import type { Process } from '../model/process.ts'
import { silent } from '../stage/stage.ts'
import { openPuller } from './watched-puller.ts'
import { CONSUMER, count, HANDLERS, MAX_ATTEMPTS, outboxOf, TYPE, type World } from './world.ts'

type Call = CallIn<World>

/** A worker with two handlers and a ledger. Ends when `signal` aborts. */
export function runHandlers(world: World, process: Process, signal: AbortSignal): Promise<void> {
  const { clock } = process
  const running = new Map<object, boolean>()
  const handlers = HANDLERS.map((name): Handler => {
    const run = (event: Event, context: HandlerContext) =>
      watched({ world, process, name, event, context }, running, perform)
    return on(TYPE, name.slice(CONSUMER.length + 1), run, { maxAttempts: MAX_ATTEMPTS })
  })
  return runPullWorker({
    name: CONSUMER,
    pull: openPuller(world, process),
    ledger: createLedger({ client: world.clientFor(process), tableName: 'ledger', clock }),
    outbox: outboxOf(world, process),
    handlers,
    concurrency: world.plan.room,
    idleSeconds: 3,
    clock,
    signal,
    logger: silent,
  })
}

/** Whatever is claimed as running alone has nothing beside it in its process, from its beginning to its end. */
async function watched(
  call: Call,
  running: Map<object, boolean>,
  run: (call: Call) => Promise<unknown>,
): Promise<unknown> {
  const { world, process, name, event } = call
  const { status, token } = world.ledger.slot(`${event.id}\0${name}`).item ?? {}
  const isAlone = status?.S === 'alone' && process.owns(token?.S ?? '')
  if (running.size > 0 && (isAlone || [...running.values()].includes(true)))
    world.breach(`${process.name}: ${name} for ${world.story.nameOf(event.id)} runs beside others`)
  running.set(call, isAlone)
  // A lapse counts as its own crash only then.
  if (isAlone) count(world.spent, `${event.id} ${name}`)
  try {
    return await run(call)
  } finally {
    running.delete(call)
  }
}

async function perform(call: Call): Promise<unknown> {
  const { world, process, name, event } = call
  const act = world.nextAct(event.id, event.key, name)
  world.story.tell(process.name, () => `${name} runs for ${world.story.nameOf(event.id)}: ${act}`)
  switch (act) {
    case 'throw':
      count(world.spent, `${event.id} ${name}`)
      throw new Error('broken')
    case 'permanent':
      count(world.spent, `${event.id} ${name}`, MAX_ATTEMPTS)
      throw permanentError('broken for good')
    case 'busy':
      throw new OutboxError('TRANSACTION_BUSY', 'later')
    case 'slow':
      await process.clock.sleep(8000)
      return effect(call)
    case 'overlong':
      await process.clock.sleep(world.plan.leaseSeconds * 1000 + 3000)
      return effect(call)
    case 'die':
      world.scheduler.in(0, () => process.kill(`in mid-handler, ${name} for ${world.story.nameOf(event.id)}`))
      return new Promise(() => {})
    case 'commit-throw':
      await effect(call)
      count(world.spent, `${event.id} ${name}`)
      throw new Error('thrown after the effect')
    default:
      return effect(call)
  }
}

/** A counted item in the transaction of its commit, or something outside of all tables. */
function effect({ world, process, name, event, context }: Call): Promise<unknown> {
  const Update = {
    TableName: 'data',
    Key: { pk: { S: `effect ${event.id} ${name}` }, sk: { S: '-' } },
    UpdateExpression: 'ADD n :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  }
  if (name.endsWith('/commit')) return context.commit([{ Update }])
  const apply = (): object => {
    count(world.effects, `${event.id} ${name}`)
    return {}
  }
  const about = (): string => `for ${name}, ${world.story.nameOf(event.id)}`
  const request = { service: 'sqs', target: 'outside', op: 'Effect', about, apply } as const
  return world.wire.call(process, request).catch((error) => {
    count(world.spent, `${event.id} ${name}`)
    throw error
  })
}
