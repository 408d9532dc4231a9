import { isOutboxError } from '../../../src/errors.ts'
import type { Puller } from '../../../src/outbox/create-puller.ts'
import type { PulledEvent } from '../../../src/outbox/pull-claim.ts'
import type { Process } from '../model/process.ts'
import type { LoopAct } from './plan.ts'
import { openPuller } from './watched-puller.ts'
import { count, outboxOf, type World } from './world.ts'

const IDLE_MS = 3000
/** Longer than anything else is put off. */
const LONG_MS = 480_000

type Loop = {
  readonly world: World
  readonly process: Process
  readonly outbox: ReturnType<typeof outboxOf>
  readonly puller: Puller
}

/** A worker that claims and answers by itself, without a ledger. Ends when `signal` aborts. */
export async function runLoop(world: World, process: Process, signal: AbortSignal): Promise<void> {
  const outbox = outboxOf(world, process)
  const loop: Loop = { world, process, outbox, puller: openPuller(world, process, outbox) }
  while (!signal.aborted) {
    const claimed = await loop.puller.claim({ limit: world.plan.room }).catch((error) => {
      refuseOthers(loop, error)
      return []
    })
    await Promise.all(claimed.map((one) => handle(loop, one)))
    await process.clock.sleep(claimed.length === 0 ? IDLE_MS : 50)
  }
}

/** An outage is the one thing that a caller has to expect. */
function refuseOthers({ world, process }: Loop, error: unknown): void {
  if (!isOutboxError(error, 'UNAVAILABLE')) world.breach(`${process.name}: ${String(error)}`)
}

async function handle(loop: Loop, claimed: PulledEvent): Promise<void> {
  const { world, process } = loop
  const { event } = claimed
  const act = world.nextAct(event.id, event.key, 'loop') as LoopAct
  world.story.tell(process.name, () => `has ${world.story.nameOf(event.id)}: ${act}`)
  count(world.effects, event.id)
  switch (act) {
    case 'forget':
      return
    case 'late':
      await process.clock.sleep(claimed.lease - process.clock.now() + 1)
      return answer(loop, claimed, 'acknowledge')
    case 'in-collect':
      await answerInCollect(loop, claimed)
      return answer(loop, claimed, 'acknowledge')
    case 'renew': {
      await process.clock.sleep(5000)
      const renewed = await loop.puller.renew(claimed).catch((error) => refuseOthers(loop, error))
      return renewed ? answer(loop, renewed, 'acknowledge') : undefined
    }
    default:
      await process.clock.sleep(500)
      return answer(loop, claimed, act)
  }
}

/** Only in time; and whoever answers in time, and still has the row, has answered. */
async function answer(loop: Loop, claimed: PulledEvent, act: LoopAct): Promise<void> {
  const { world, process } = loop
  const key = `${claimed.hold.key.pk}\0${claimed.hold.key.sk}`
  const isLate = process.clock.now() >= claimed.lease
  world.acting.set(key, act)
  const landed = await say(loop, claimed, act).catch((error) => {
    refuseOthers(loop, error)
    return undefined
  })
  const { token, due } = world.outbox.slot(key).item ?? {}
  const isStillHeld = token?.S === claimed.hold.token && Number(due?.N) === claimed.lease
  if (landed && isLate) world.breach(`${process.name} answered when its lease was over`)
  if (landed === false && !isLate && isStillHeld && act !== 'acknowledge')
    world.breach(`${process.name} still has what it was told to have lost`)
}

async function say({ puller, process }: Loop, claimed: PulledEvent, act: LoopAct): Promise<boolean> {
  switch (act) {
    case 'fail':
      return (await puller.fail(claimed, 'not today')).status !== 'lost'
    case 'release':
      return puller.release(claimed, process.clock.now() + 3000)
    case 'release-long':
      return puller.release(claimed, process.clock.now() + LONG_MS)
    case 'dead-letter':
      return puller.deadLetter(claimed, 'hopeless')
    default:
      return puller.acknowledge(claimed)
  }
}

/** Whatever is said while a transaction is gathered would stand though that is never sent: it is refused, and nothing changes. */
async function answerInCollect({ world, process, outbox, puller }: Loop, claimed: PulledEvent): Promise<void> {
  const calls = [
    () => puller.acknowledge(claimed),
    () => puller.fail(claimed, 'no'),
    () => puller.release(claimed),
    () => puller.claim(),
  ]
  await outbox
    .collect(async () => {
      for (const call of calls) {
        const refusal = await call().catch((error: unknown) => error)
        if (!isOutboxError(refusal, 'INVALID_USE')) world.breach(`${process.name} was answered inside collect`)
      }
      throw new Error('nothing is to be sent')
    })
    .catch(() => undefined)
}
