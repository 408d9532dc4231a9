import { type Handler, on } from '../../../src/consumer/handler.ts'
import type { HandlerContext } from '../../../src/consumer/handler-context.ts'
import { OutboxError, permanentError } from '../../../src/errors.ts'
import type { Event } from '../../../src/event/event.ts'
import { fromItem } from '../../../src/ledger/statements.ts'
import { count, lifeKey } from './books.ts'
import { chance } from './chance.ts'
import { type Act, HANDLERS, MAX_ATTEMPTS, ROUTES } from './plan.ts'
import type { Process } from './process.ts'
import type { World } from './world.ts'

/** A call of one handler, in a process of some world. */
export type CallIn<Place> = {
  readonly world: Place
  readonly process: Process
  readonly name: string
  readonly event: Event
  readonly context: HandlerContext
}
type Call = CallIn<World>

/** The handlers of one consumer, in one process. Each does what the plan's script says, then succeeds for ever. */
export function createHandlers(world: World, process: Process, consumer: string): Handler[] {
  const active = new Set<string>()
  return Object.keys(ROUTES).flatMap((type) =>
    HANDLERS.map((handler) => {
      const name = `${consumer}/${handler}`
      const run = async (event: Event, context: HandlerContext): Promise<unknown> => {
        const call = { world, process, name, event, context }
        checkAlone(call, active)
        active.add(`${event.id} ${name}`)
        try {
          return await perform(call)
        } finally {
          active.delete(`${event.id} ${name}`)
        }
      }
      return on(type, handler, run, { maxAttempts: MAX_ATTEMPTS })
    }),
  )
}

/**
 * What is claimed alone runs while nothing else of its process does: only then is a crash its own. What another has taken
 * over alone meanwhile, while this one stood still, is the other's.
 */
function checkAlone({ world, process, name, event }: Call, active: ReadonlySet<string>): void {
  if (active.size === 0) return
  const isAlone = (key: string): boolean => {
    const { status, token } = world.ledger.slot(key.replace(' ', '\0')).item ?? {}
    return status?.S === 'alone' && process.owns(token?.S ?? '')
  }
  if (isAlone(`${event.id} ${name}`) || [...active].some(isAlone))
    world.books.breach(`${process.name} runs ${name} for ${world.story.nameOf(event.id)} beside what is to run alone`)
}

function perform(call: Call): Promise<unknown> | unknown {
  const { world, name, event, process } = call
  const act = nextAct(call)
  if (world.lost.get(process)?.has(event.id))
    world.books.breach(`${process.name} runs ${name} for a message that is not its own`)
  world.story.tell(process.name, () => `${name} runs for ${world.story.nameOf(event.id)}: ${act}`)
  switch (act) {
    case 'ok':
      return effect(call)
    case 'slow':
      return process.clock.sleep(12_000).then(() => effect(call))
    case 'throw':
      spend(call)
      throw new Error('broken')
    case 'permanent':
      for (let n = 0; n < MAX_ATTEMPTS; n++) spend(call)
      throw permanentError('broken for good')
    case 'busy':
      throw new OutboxError('TRANSACTION_BUSY', 'later')
    case 'hang':
      return new Promise(() => {})
    case 'die':
      world.scheduler.in(0, () => process.kill(`in mid-handler, ${name} for ${world.story.nameOf(event.id)}`))
      return new Promise(() => {})
    default:
      return name.endsWith('/commit') ? commitOddly(call, act) : effect(call)
  }
}

/** Handlers that do with `commit` what they should not. */
async function commitOddly(call: Call, act: Act): Promise<unknown> {
  const { world, process, name, event } = call
  switch (act) {
    case 'commit-throw':
      await effect(call)
      spend(call)
      throw new Error('thrown after the commit')
    case 'commit-swallow':
      return effect(call).catch(() => undefined)
    case 'commit-late':
      await effect(call)
      void call.process.clock.sleep(1000).then(() => effect(call).catch(() => undefined))
      return undefined
    case 'commit-after': {
      // It may say that it landed only if it did, though the row is done by then.
      world.books.waived.add(`${event.id} ${name}`)
      const late = (): Promise<void> =>
        effect(call).then(
          () => checkLanded(call),
          () => undefined,
        )
      void process.clock.sleep(1000).then(late)
      return undefined
    }
    case 'own-condition': {
      const missing = { TableName: 'data', Key: key('nowhere'), ConditionExpression: 'attribute_exists(pk)' }
      await call.context.commit([{ ConditionCheck: missing }]).catch(() => undefined)
      return effect(call)
    }
    default:
      void effect(call).catch(() => undefined)
      return undefined
  }
}

function checkLanded({ world, process, name, event }: Call): void {
  if (world.data.slot(`effect ${event.id} ${name}\0-`).item === undefined)
    world.books.breach(`${process.name} is told that ${name} landed for ${world.story.nameOf(event.id)}: it did not`)
}

/** What the handler is there for: a counted item in the transaction of its commit, or something outside of all tables. */
function effect(call: Call): Promise<unknown> {
  const { world, process, name, event, context } = call
  const { idempotencyKey, commit } = context
  if (name.endsWith('/plain')) {
    const apply = (): object => {
      world.books.effects.push({ id: event.id, name, key: idempotencyKey })
      return {}
    }
    const about = (): string => `for ${name}, ${world.story.nameOf(event.id)}`
    // An outage outside of AWS is the handler's own failure: nobody else knows of it.
    return world.wire
      .call(process, { service: 'sqs', target: 'outside', op: 'Effect', about, apply })
      .catch((error) => {
        spend(call)
        throw error
      })
  }
  const follows = (event.data as { follow?: boolean }).follow === true && name === 'a/commit'
  const followUp = { source: 'shop', key: `after-${event.key.replace(' ', '-')}`, type: 'follow', data: {} }
  const Update = {
    TableName: 'data',
    Key: key(`effect ${event.id} ${name}`),
    UpdateExpression: 'ADD n :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  }
  return commit([{ Update }], follows ? { events: [followUp] } : {})
}

/** Which run of which life it is decides; a calm world's handlers succeed. */
function nextAct({ world, name, event }: Call): Act {
  if (world.isCalm()) return 'ok'
  const { scripts, seed } = world.plan
  const run = world.runs.get(`${event.id} ${name}`) ?? 0
  world.runs.set(`${event.id} ${name}`, run + 1)
  const place = Math.floor(chance(seed === 0 ? 1 : seed, 'script', event.key.slice(-3), name) * scripts.length)
  return scripts[place]?.[run] ?? 'ok'
}

/** Notes a failure of the handler's own, under the life that its claim is of. */
function spend({ world, process, event, name }: Call): void {
  const item = world.ledger.slot(`${event.id}\0${name}`).item
  const entry = item === undefined ? undefined : fromItem(item)
  if (entry !== undefined && process.owns(entry.token)) count(world.books.spent, lifeKey(entry))
}

function key(name: string) {
  return { pk: { S: name }, sk: { S: '-' } }
}
