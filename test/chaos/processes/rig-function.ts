import type { Invocation, Runner } from '../../../src/testing/function.ts'
import type { ProcessFunction } from '../../../src/testing/index.ts'
import type { Role } from '../topology.ts'
import type { Crew, Member } from './crew.ts'

/** What a function's processes are busy with. */
export type RigFunction = ProcessFunction & {
  /** The event that a process has in hand; undefined if it has none. */
  readonly eventOf: (name: string) => unknown
}

/** Hears of a process that died, or that outlived its invocation frozen, with an event in hand. */
export type OnDeath = (process: string, event: unknown) => void

/**
 * A Lambda function in processes of the rig: one invocation at a time in each, kept warm, killed at the timeout. One that
 * is frozen then is left to itself: another takes its place, and once it is thawed it goes on with its writes, as a
 * sandbox does.
 */
export function rigFunction(crew: Crew, role: Role, onDeath: OnDeath = () => {}): RigFunction {
  const busy = new Map<string, unknown>()

  const createRunner = <Event>(): Runner<Event> => {
    const idle: Member[] = []
    let stopped = false

    const take = async (): Promise<Member> => {
      for (let warm = idle.pop(); warm !== undefined; warm = idle.pop()) {
        if (!crew.isFrozen(warm.name)) return warm
        crew.dismiss(warm)
      }
      const member = await crew.hire(role)
      void member.worker.gone.then(() => {
        const at = idle.indexOf(member)
        if (at >= 0) idle.splice(at, 1)
      })
      return member
    }
    const run = async (
      member: Member,
      { event, functionName, requestId, deadline, ended }: Invocation<Event>,
    ): Promise<unknown> => {
      const { worker, name } = member
      let isOver = false
      const abandon = (): void => {
        isOver = true
        onDeath(name, event)
        crew.dismiss(member)
      }
      busy.set(name, event)
      ended.addEventListener('abort', abandon, { once: true })
      try {
        const answer = worker.hear('answer')
        worker.tell({ kind: 'invoke', event, functionName, requestId, deadline })
        const { response, error } = await answer.catch((reason: unknown) => {
          if (!isOver) onDeath(name, event)
          throw reason
        })
        if (isOver || stopped) crew.dismiss(member)
        else idle.push(member)
        if (error !== undefined) throw Object.assign(new Error(error.message), { name: error.name })
        return response
      } finally {
        ended.removeEventListener('abort', abandon)
        busy.delete(name)
      }
    }
    return {
      prepare: async () => {
        const member = await take()
        return (invocation) => run(member, invocation)
      },
      stop: async () => {
        stopped = true
        for (const member of idle.splice(0)) crew.dismiss(member)
      },
    }
  }
  return { createRunner, kill: () => 0, running: () => [], eventOf: (name) => busy.get(name) }
}
