import type { Puller } from '../../../src/outbox/create-puller.ts'
import type { Process } from '../model/process.ts'
import { silent } from '../stage/stage.ts'
import { outboxOf, SOURCE, type World, workerIdOf } from './world.ts'

/** A request is tried three times: with fewer troubles than that, what was written is known. */
const TRIES = 3

/** The puller of one process. Whatever claim of its lands in the table reaches its caller, and nothing else does. */
export function openPuller(world: World, process: Process, outbox = outboxOf(world, process)): Puller {
  const { plan, maxClaims, wire, taken, breach } = world
  const puller = outbox.pull({
    source: SOURCE,
    workerId: workerIdOf(process),
    leaseSeconds: plan.leaseSeconds,
    maxClaims,
    logger: silent,
  })
  const claim: Puller['claim'] = async (options) => {
    const troubles = wire.met(process).length
    const landed = new Map<string, string>()
    taken.set(process, landed)
    const claimed = await puller.claim(options).catch((error: unknown) => error)
    const handed = Array.isArray(claimed) ? (claimed as Awaited<ReturnType<Puller['claim']>>) : []
    for (const { hold } of handed) {
      const key = `${hold.key.pk}\0${hold.key.sk}`
      if (landed.get(key) !== hold.token) breach(`${process.name} got ${key} without a claim`)
      landed.delete(key)
    }
    const isKnown = wire.met(process).length - troubles < TRIES
    if (landed.size > 0 && isKnown) breach(`${process.name} has claimed ${[...landed.keys()]}, and is not told`)
    if (!Array.isArray(claimed)) throw claimed
    return handed
  }
  return { ...puller, claim }
}
