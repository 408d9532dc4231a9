import { existsSync } from 'node:fs'
import type { Clock } from '../../../src/clock.ts'
import type { AttributeWrite } from '../../../src/outbox/client-write.ts'
import { createOutbox, type Outbox } from '../../../src/outbox/create-outbox.ts'
import type { Assignment } from '../processes/messages.ts'
import { type Clients, openClients } from './clients.ts'
import { type Journal, openJournal } from './journal.ts'
import { workerClocks } from './worker-clock.ts'

/** What a process of any role works with. */
export type Station = {
  readonly assignment: Assignment
  readonly clients: Clients
  /** Off by the process's error. */
  readonly clock: Clock
  readonly trueClock: Clock
  readonly journal: Journal
  readonly outbox: Outbox<AttributeWrite>
  /** Whether every cause of failure is fixed. */
  readonly isFixed: () => boolean
}

export const silent = { info: () => {}, warn: () => {}, error: () => {} }

export function openStation(assignment: Assignment): Station {
  const { outboxTable, scale, journal, fixed } = assignment
  const clients = openClients(assignment)
  const clocks = workerClocks(scale, assignment)
  let isFixed = false
  return {
    assignment,
    clients,
    ...clocks,
    journal: openJournal(journal),
    outbox: createOutbox({ client: clients.dynamo, tableName: outboxTable, clock: clocks.clock }),
    isFixed: () => {
      isFixed ||= existsSync(fixed)
      return isFixed
    },
  }
}
