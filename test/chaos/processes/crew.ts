import type { Clock } from '../../../src/clock.ts'
import type { FaultLayer } from '../faults/fault-layer.ts'
import type { Role } from '../topology.ts'
import type { Assignment } from './messages.ts'
import type { Spares, WorkerProcess } from './spares.ts'

/** A process in its role. */
export type Member = { readonly name: string; readonly role: Role; readonly worker: WorkerProcess }

/** Every process that has a role, each under a name of its own, which no later one gets. */
export type Crew = {
  readonly hire: (role: Role) => Promise<Member>
  /** It was stopped, and will be thawed after `ms` of the clock. */
  readonly noteFrozen: (name: string, ms: number) => void
  readonly isFrozen: (name: string) => boolean
  /** Ends a process that nobody waits for; a frozen one goes on for a while first, once it is thawed. */
  readonly dismiss: (member: Member) => void
  /** Ends every process. */
  readonly disband: () => void
  /** Resolves once no process is frozen, or on its way out after that. */
  readonly thawed: () => Promise<void>
}

export type CrewOptions = {
  readonly spares: Spares
  readonly layer: FaultLayer
  readonly clock: Clock
  /** How far the clock of the next process is off, ms. */
  readonly nextSkew: () => number
  readonly common: Omit<Assignment, 'name' | 'role' | 'skewMs' | 'endpoints'>
}

/** How long a process that outlived its invocation frozen may go on with it, ms of the clock. */
const AFTERLIFE_MS = 20_000

export function createCrew({ spares, layer, clock, nextSkew, common }: CrewOptions): Crew {
  const members = new Set<Member>()
  const frozen = new Map<string, Promise<void>>()
  const leaving = new Set<Promise<void>>()
  let hired = 0

  const leave = async (member: Member): Promise<void> => {
    const thawing = frozen.get(member.name)
    if (thawing !== undefined) {
      await thawing
      await Promise.race([clock.sleep(AFTERLIFE_MS), member.worker.gone])
    }
    member.worker.kill()
  }

  return {
    hire: async (role) => {
      const worker = await spares.take()
      const name = `${role}#${++hired}`
      const member = { name, role, worker }
      layer.register(name, worker.pid)
      members.add(member)
      void worker.gone.then(() => {
        members.delete(member)
        layer.unregister(name)
      })
      worker.tell({
        kind: 'assign',
        assignment: { ...common, name, role, skewMs: nextSkew(), endpoints: layer.endpointsFor(name) },
      })
      await worker.hear('assigned')
      return member
    },
    noteFrozen: (name, ms) => {
      frozen.set(
        name,
        clock.sleep(ms).then(() => void frozen.delete(name)),
      )
    },
    isFrozen: (name) => frozen.has(name),
    dismiss: (member) => {
      const going = leave(member).finally(() => leaving.delete(going))
      leaving.add(going)
    },
    disband: () => {
      for (const { worker } of members) worker.kill()
    },
    thawed: async () => {
      while (frozen.size + leaving.size > 0) await Promise.all([...frozen.values(), ...leaving])
    },
  }
}
