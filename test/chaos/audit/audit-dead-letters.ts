import { MAX_ATTEMPTS } from '../topology.ts'
import type { Breach, StoredEntry } from './books.ts'
import { type IndexedBooks, nameOf, runsOf } from './index-books.ts'
import type { JournalLine } from './journal-line.ts'

type Letter = JournalLine & { readonly kind: 'letter' }

/** Nothing is dead that did not run its attempts, and no attempt was spent without a run that failed or crashed. */
export function auditDeadLetters(indexed: IndexedBooks): Breach[] {
  const { books } = indexed
  const letters = books.journal.flatMap((line) => (line.kind === 'letter' ? [line] : []))
  return [
    ...letters.flatMap((letter) => auditLetter(indexed, letter)),
    ...books.entries.flatMap((entry) => auditEntry(indexed, entry)),
    // What a queue refuses is too long for it, and of these only some are.
    ...books.rows.flatMap(({ id, failure, data }): Breach[] =>
      failure === undefined || data.pad !== undefined
        ? []
        : [{ kind: 'deadUnrun', id, what: `its row was dead-lettered: ${failure}` }],
    ),
  ]
}

function auditLetter(indexed: IndexedBooks, { id, handlers, attempts = 0, queue }: Letter): Breach[] {
  const [handler] = handlers
  if (handler === undefined) return [{ kind: 'deadUnrun', id, what: `the queue ${queue} dead-lettered it by itself` }]
  const { permanent } = runsOf(indexed, nameOf({ handler, id }))
  if (permanent > 0) return []
  if (attempts < MAX_ATTEMPTS) return [{ kind: 'deadUnrun', id, what: `${handler} is dead after ${attempts} attempts` }]
  return spentFor(indexed, { id, handler, attempts })
}

function auditEntry(indexed: IndexedBooks, { id, handler, attempts }: StoredEntry): Breach[] {
  return runsOf(indexed, nameOf({ handler, id })).permanent > 0 ? [] : spentFor(indexed, { id, handler, attempts })
}

type Spent = { readonly id: string; readonly handler: string; readonly attempts: number }

/** Which of the handlers in hand a crash was held against, and whether that one was alone, the journal does not know. */
function spentFor(indexed: IndexedBooks, { id, handler, attempts }: Spent): Breach[] {
  const possible = runsOf(indexed, nameOf({ handler, id })).failed + (indexed.deaths.get(id) ?? 0)
  if (attempts <= possible) return []
  const what = `${handler} has spent ${attempts} attempts, and failed or crashed ${possible} times`
  return [{ kind: 'deadUnrun', id, what }]
}
