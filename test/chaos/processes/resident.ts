import { setTimeout as delay } from 'node:timers/promises'
import type { Role } from '../topology.ts'
import type { Crew, Member } from './crew.ts'

/** A process that lives on by itself (a writer, the operator), replaced whenever it dies. */
export type Resident = {
  readonly current: () => Member | undefined
  /** Ends the replacing; the process itself is left as it is. */
  readonly retire: () => void
}

/** After a process that could not be started, ms of real time. */
const RETRY_MS = 200

export function keepResident(crew: Crew, role: Role, welcome: (member: Member) => void): Resident {
  let current: Member | undefined
  let retired = false
  const live = async (): Promise<void> => {
    while (!retired) {
      const member = await crew.hire(role).catch(() => undefined)
      if (member === undefined) {
        await delay(RETRY_MS)
        continue
      }
      // Retired while it started: nobody would ever tell it to end.
      if (retired) return crew.dismiss(member)
      current = member
      welcome(member)
      await member.worker.gone
      if (current === member) current = undefined
    }
  }
  void live()
  return {
    current: () => current,
    retire: () => {
      retired = true
    },
  }
}
