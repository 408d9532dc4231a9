import { describe, expect, it } from 'vitest'
import { audit } from '../chaos/audit/audit.ts'
import type { Books } from '../chaos/audit/books.ts'
import {
  booksWith,
  changing,
  done,
  letter,
  once,
  outcome,
  ROWS,
  rowOf,
  run,
  wholeBooks,
  without,
} from './whole-books.ts'

const { step, pair, ping, note, follow, trail } = ROWS
const found = (books: Books): string[] => audit(books).map(({ kind, what }) => `${kind}: ${what}`)
const stranger = rowOf({ type: 'step', identity: { source: 'shop', group: 'g', sequence: 1 }, data: {} })

it('finds nothing where all went well', () => {
  expect(audit(wholeBooks())).toEqual([])
})

describe('lost', () => {
  it('an event that a committing handler never handled', () => {
    expect(found(booksWith({ effects: without(note) }))).toEqual(['lost: plain/record has not handled it'])
  })
  it('an event whose effect outside never happened', () => {
    expect(
      found(booksWith({ journal: (lines) => lines.filter((line) => line.kind !== 'effect' || line.id !== trail.id) })),
    ).toEqual(['lost: side/echo has not handled it'])
  })
  it('an event that one of its two handlers never handled', () => {
    expect(found(booksWith({ effects: without(pair, 'main/apply') }))).toEqual(['lost: main/apply has not handled it'])
  })
  it('an event of a transaction whose other events are stored', () => {
    const books = booksWith({
      transactions: (all) => all.map((one) => (one.tx === 'w#1.2' ? { ...one, events: 2 } : one)),
    })
    expect(found(books)).toEqual(['lost: 1 of 2 events of a committed transaction are not stored'])
  })
  it('a transaction that its writer was told is committed', () => {
    expect(found(booksWith({ journal: (lines) => [...lines, outcome('w#1.9', 'committed')] }))).toEqual([
      'lost: its writer was told that it was committed, and it is not stored',
    ])
  })
  it('a number of an aggregate that has no event', () => {
    expect(found(booksWith({ aggregates: () => [{ name: 'v1', version: 4 }] }))).toEqual([
      'lost: 1 numbers of v1 have no event',
    ])
  })
  it('a keyed event that its transaction has not stored, or with another content', () => {
    const missing = booksWith({ rows: without(note), entries: without(note), effects: without(note) })
    expect(found(missing)).toEqual(['lost: the keyed event of a committed transaction is not stored'])
    expect(found(booksWith({ rows: changing({ data: { variant: 1 } }, note) }))).toEqual([
      'lost: a transaction was committed whose keyed event is stored with other content',
    ])
  })
  it('a follow-up of a commit that landed', () => {
    const gone = (row: typeof follow) =>
      booksWith({
        rows: without(row),
        entries: without(row),
        effects: without(row),
        journal: (lines) => lines.filter((line) => !('id' in line) || line.id !== row.id),
      })
    expect(found(gone(follow))).toEqual(['lost: 0 events of type follow came of it, and not 1'])
    expect(found(gone(trail))).toEqual(['lost: 0 events of type trail came of it, and not 1'])
  })
})

describe('doubled', () => {
  it('a committed effect that happened twice', () => {
    expect(found(booksWith({ effects: changing({ times: 2 }, step) }))).toEqual([
      'doubled: main/apply has handled it 2 times',
    ])
  })
  it('an effect of an event that was never committed, inside and outside', () => {
    expect(found(booksWith({ effects: (all) => [...all, once(stranger, 'main/apply')] }))).toEqual([
      'doubled: main/apply has handled an event that is not stored',
    ])
    expect(found(booksWith({ journal: (lines) => [...lines, ...run(stranger, 'main/notify')] }))).toEqual([
      'doubled: main/notify has acted on an event that is not stored',
    ])
  })
  it('an effect of a handler that does not take the type', () => {
    expect(found(booksWith({ effects: (all) => [...all, once(ping, 'side/mirror')] }))).toEqual([
      'doubled: side/mirror has handled an event of type ping',
    ])
  })
  it('an event whose transaction was not committed', () => {
    expect(
      found(
        booksWith({
          transactions: (all) => all.filter(({ tx }) => tx !== 'w#1.2'),
          journal: (lines) => lines.filter((line) => !('tx' in line)),
        }),
      ),
    ).toEqual(['doubled: an event is stored whose transaction was not committed'])
  })
  it('more events than a transaction had', () => {
    const books = booksWith({
      transactions: (all) => all.map((one) => (one.tx === 'w#1.1' ? { ...one, events: 1 } : one)),
    })
    expect(found(books)).toEqual(['doubled: 2 events are stored of a transaction that had 1'])
  })
  it('a transaction that its writer was told is not written', () => {
    for (const text of ['duplicate', 'EVENT_CONFLICT', 'CONDITION_FAILED', 'TRANSACTION_BUSY', 'UNAVAILABLE']) {
      expect(found(booksWith({ journal: (lines) => [...lines, outcome('w#1.2', text)] }))).toEqual([
        `doubled: its writer was told ${text}, and it is stored`,
      ])
    }
    expect(found(booksWith({ journal: (lines) => [...lines, outcome('w#1.2', 'OUTCOME_UNKNOWN')] }))).toEqual([])
  })
  it('two transactions under one idempotency key', () => {
    const shared = { key: 'shared-1', variant: 0, mode: 'cancel' as const }
    expect(found(booksWith({ transactions: (all) => [...all, { tx: 'w#1.8', events: 0, shared }] }))).toEqual([
      'doubled: two transactions were committed under one idempotency key',
    ])
    expect(
      found(
        booksWith({
          transactions: (all) => [...all, { tx: 'w#1.8', events: 0, shared: { ...shared, mode: 'commit' } }],
        }),
      ),
    ).toEqual([])
  })
  it('an event beyond the version of its aggregate', () => {
    expect(found(booksWith({ aggregates: () => [{ name: 'v1', version: 2 }] }))).toEqual([
      'doubled: 1 events of v1 are beyond its version',
    ])
  })
  it('a follow-up that came twice, or of a handler that did not commit', () => {
    const second = rowOf({
      type: 'trail',
      identity: { source: 'shop', group: 't1', sequence: 8 },
      data: { of: step.id },
    })
    const books = booksWith({
      rows: (all) => [...all, second],
      entries: (all) => [...all, done(second, 'side/echo')],
      journal: (lines) => [...lines, ...run(second, 'side/echo')],
    })
    expect(found(books)).toEqual(['doubled: 2 events of type trail came of it, and not 1'])
    expect(found(booksWith({ effects: without(step) }))).toEqual([
      'lost: main/apply has not handled it',
      'doubled: a follow-up is stored whose handler did not commit',
    ])
  })
})

describe('reordered', () => {
  const late = { effects: changing({ late: true }, step) }
  it('a committed effect after a later one of its group', () => {
    expect(found(booksWith(late))).toEqual(['reordered: main/apply handled a later one of its group before'])
  })
  it('an effect outside whose first time came after a later one', () => {
    const journal = (lines: Books['journal']) => [
      ...lines.filter(
        (line) => !('id' in line) || line.id !== pair.id || !('handler' in line) || line.handler !== 'main/notify',
      ),
      ...run(pair, 'main/notify'),
    ]
    expect(found(booksWith({ journal }))).toEqual(['reordered: main/notify acted on 3 of its group before 2'])
  })
  it('but not a second time of one that came in order', () => {
    expect(found(booksWith({ journal: (lines) => [...lines, ...run(pair, 'main/notify')] }))).toEqual([])
  })
  it('but not what was dead on the way, as a row or for that handler', () => {
    expect(found(booksWith({ ...late, rows: changing({ redrives: 1 }, step) }))).toEqual([])
    expect(found(booksWith({ ...late, entries: changing({ life: step.created + 1 }, step, 'main/apply') }))).toEqual([])
    expect(
      found(
        booksWith({
          effects: changing({ late: true }, pair),
          entries: changing({ life: pair.created + 1 }, pair, 'main/notify'),
        }),
      ),
    ).toHaveLength(1)
  })
})

describe('dead without its attempts', () => {
  const letters = (...lines: Books['journal']) => ({ journal: (all: Books['journal']) => [...all, ...lines] })
  it('a dead letter of a handler that did not fail so often', () => {
    expect(found(booksWith(letters(letter(step, ['main/apply'], 4))))).toEqual([
      'deadUnrun: main/apply has spent 4 attempts, and failed or crashed 0 times',
    ])
  })
  it('a dead letter before its last attempt', () => {
    expect(found(booksWith(letters(...run(step, 'main/apply', 'failed'), letter(step, ['main/apply'], 1))))).toEqual([
      'deadUnrun: main/apply is dead after 1 attempts',
    ])
  })
  it('a message that the queue itself put aside', () => {
    expect(found(booksWith(letters(letter(step, [], 0))))).toEqual([
      'deadUnrun: the queue main dead-lettered it by itself',
    ])
  })
  it('a row that no queue has a reason to refuse', () => {
    expect(found(booksWith({ rows: changing({ failure: 'AccessDenied' }, ping) }))).toEqual([
      'deadUnrun: its row was dead-lettered: AccessDenied',
    ])
    expect(
      found(booksWith({ rows: changing({ failure: 'too long', data: { ...ping.data, pad: 'x' } }, ping) })),
    ).toEqual([])
  })
  it('an attempt spent on what was no failure of the handler', () => {
    const spent = { entries: changing({ attempts: 1 }, ping, 'main/notify') }
    expect(found(booksWith(spent))).toEqual([
      'deadUnrun: main/notify has spent 1 attempts, and failed or crashed 0 times',
    ])
    expect(found(booksWith({ ...spent, ...letters(...run(ping, 'main/notify', 'passed')) }))).toHaveLength(1)
    expect(found(booksWith({ ...spent, ...letters(...run(ping, 'main/notify', 'failed')) }))).toEqual([])
    expect(found(booksWith({ ...spent, ...letters(...run(ping, 'main/notify', 'crashed')) }))).toEqual([])
  })
  it('but not one that failed or crashed as often as it may, or for good', () => {
    const often = [...run(step, 'main/apply', 'failed'), ...run(step, 'main/apply', 'crashed')]
    expect(found(booksWith(letters(...often, ...often, letter(step, ['main/apply'], 4))))).toEqual([])
    expect(found(booksWith(letters(...run(step, 'main/apply', 'permanent'), letter(step, ['main/apply'], 4))))).toEqual(
      [],
    )
  })
})

describe('stuck', () => {
  it('a row that is pending or dead', () => {
    expect(found(booksWith({ rows: changing({ state: 'pending' }, ping) }))).toEqual([
      'stuck: its row is pending, and it would expire',
    ])
    expect(
      found(
        booksWith({ rows: changing({ state: 'dead', data: { ...ping.data, pad: 'x' }, failure: 'too long' }, ping) }),
      )[0],
    ).toMatch(/^stuck: its row is dead/)
  })
  it('does not count what did not get out as lost beside that', () => {
    expect(found(booksWith({ rows: changing({ state: 'pending' }, note), effects: without(note) }))).toEqual([
      'stuck: its row is pending, and it would expire',
    ])
  })
  it('an entry of the ledger that is not done, or missing', () => {
    for (const status of ['running', 'alone', 'failed', 'dead'] as const)
      expect(found(booksWith({ entries: changing({ status }, ping) }))).toEqual([`stuck: main/notify is ${status}`])
    expect(found(booksWith({ entries: without(ping) }))).toEqual(['stuck: main/notify has no entry in the ledger'])
  })
  it('a relayed row that would stay for ever', () => {
    const { expires: _, ...forever } = ping
    expect(found(booksWith({ rows: (rows) => rows.map((row) => (row.id === ping.id ? forever : row)) }))).toEqual([
      'stuck: its row is relayed and would never expire',
    ])
    expect(found(booksWith({ rows: changing({ expires: 1_800_000_000_000 }, ping) }))).toEqual([
      'stuck: its row expires in the wrong unit',
    ])
  })
  it('a message left in a queue', () => {
    expect(found(booksWith({ left: () => ({ 'main-dead': 2 }) }))).toEqual(['stuck: 2 messages are left in main-dead'])
  })
  it('an entry for an event that is not stored', () => {
    expect(found(booksWith({ entries: (all) => [...all, done(stranger, 'main/apply')] }))).toEqual([
      'stuck: the ledger has an entry of main/apply for an event that is not stored',
    ])
  })
})
