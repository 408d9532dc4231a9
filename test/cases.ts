/**
 * What users of comparable systems have reported, as the behaviour a correct one shows. Each case is proven by at least
 * one test that names it: `it('title', proves('stored-by-retry'), …)`. `npm test` writes the outcome to `cases.md` and
 * fails if a case without `later` has no passing test.
 */
const TITLES = {
  Enqueue: {
    'job-runs-again': 'A job that runs again after its first run committed writes nothing twice',
    'item-forms': 'Items as native values or AttributeValues are sent as meant; mixing them is an error',
    'stored-by-retry': 'A retry whose first call was applied recognises its own row: success',
    'token-expired':
      'An enqueue retried after its token expired: all our own rows means stored, any foreign one an error',
    'transaction-in-progress': 'A transaction still in progress is waited for, under the same token',
    'cancelled-retried': "A cancelled transaction is retried with a bound; reasons point at the caller's own item",
    'transaction-limits': '101 actions, 4 MB + 1 and 400 KB + 1 are refused before sending, with the arithmetic',
    'two-actions-one-item': 'Two actions on one item, or differing twins of an event, are refused before sending',
    'no-silent-exit': 'No write can silently leave the transaction',
    'key-already-stored': 'An event already stored: equal data is a duplicate, other data a typed conflict',
    'commit-reported-as-error': 'A commit reported as an error is read back',
    'interleaved-in-group': 'Two interleaved transactions of one group are ordered by the sequence, never by a clock',
  },
  Payload: {
    'json-semantics': 'undefined, 1.23e40, 1e-7 and integers over 2^53 behave as in JSON, byte for byte',
    'not-json': 'BigInt, Set, Map, class instance, NaN, Infinity and cycles are refused with the path of the value',
    'odd-characters': 'Control characters, U+FFFE, U+FFFF, lone surrogates and emoji arrive as they were sent',
    'empty-payload': 'An empty object, an empty string and null are delivered',
    'undecodable-row': 'One stored row that cannot be decoded is dead-lettered alone; the page goes on',
    'every-field-survives': 'Every envelope field survives store, relay, consumer, dead-letter queue and redrive',
  },
  Sending: {
    'entry-ids': 'Ids with : / # or 81 characters are sent: batch entry ids are indexes',
    'request-limits': 'Ten entries and 1 MiB together, in UTF-8 bytes with attributes: split before sending',
    'few-attributes': 'At most two message attributes are our own',
    'entry-refused-in-200': 'An entry refused in a 200 answer is never marked, and its reason is kept',
    'later-chunk-throws': 'When a later request throws, what earlier ones sent stays accepted',
    'group-never-overtaken': 'No later event of a group is accepted while an earlier one was refused',
    'ids-on-every-path': 'Group and deduplication id are carried on every path, dead-lettering and redrive included',
    'no-message-delay': 'Backoff lives in the row or in the visibility, never in a per-message delay',
  },
  'Relay, sweep, lease': {
    'sweep-reads-pending-only': 'With 100,000 relayed rows and 10 pending, a sweep pays for about 10 rows',
    'grace-period': 'The sweeper leaves rows alone during their first processing; a duplicate changes nothing',
    'relay-dies-before-marking':
      'A relay that dies after sending, before marking: swept within grace and a minute, one effect',
    'oldest-pending-age': 'The age of the oldest pending row is a metric, so that a stopped relay is seen',
    'many-relays-at-once': 'Several relays and sweepers at once keep the order, and duplicates are removed',
    'refused-for-content': 'A row refused for its content is dead at once, in turn within its group; the others go on',
    'sqs-down-for-an-hour': 'SQS down for an hour: no attempt spent, no row dead, everything delivered afterwards',
    'slow-send': 'One slow send blocks only its own group',
    'pull-worker-last-claim': 'A pull worker that dies in its last allowed claim: the next claim dead-letters',
  },
  Stream: {
    'records-shuffled': 'Records of one transaction in any order: the order comes from the table',
    'records-dropped-or-doubled': 'Records dropped, doubled or replayed a day later: nothing lost, nothing doubled',
    'not-an-insert': 'MODIFY, REMOVE, expiry, no-op updates and rows of another shape are not published',
    'hint-before-row': 'A hint that comes before its row can be read is not skipped for good',
    'poison-record': 'A poison record does not hold its shard',
    'torn-query':
      'A Query that shows a row and not the one before it: the earlier is looked up before the later is sent',
    'crossed-destinations': 'Row 5 stays pending until row 4 is accepted by the destination that refused it',
    'one-destination-down': 'One destination down for days: the other one gets each event once',
    'outage-of-permission': 'A revoked permission, disabled key or missing queue dead-letters nothing',
    'stream-from-the-start': 'A day of records again: old ones are read back first, relayed rows are not sent',
    'sweeper-killed': 'A sweeper killed in mid-page has spent nothing; the next run goes on',
    'long-group': 'A group of 20,000 pending rows drains in order, and nobody reads it whole',
  },
  Consumer: {
    'late-worker': 'A late worker that finishes or fails after a takeover changes nothing',
    'timeout-mid-handler': "A function that times out in mid-handler is retried within seconds of its lease's end",
    'duplicate-while-running': 'A duplicate that comes while the first one runs is deferred, and no attempt is spent',
    'one-failure-in-batch':
      'After one failure other groups finish; later ones of its group neither run nor are left out',
    'permanent-error': 'A permanent error goes straight to the dead-letter queue, once',
    'consumer-cannot-start': 'A consumer that is throttled or cannot start: messages wait, none is dead-lettered unrun',
    'commit-is-one': '`ctx.commit` makes the effect and the ledger mark one transaction',
    'handler-outlives-visibility':
      'A handler longer than the visibility timeout: the redelivery sees the claim and waits',
    'two-handlers-one-fails': 'Of two handlers of a message only the failed one runs again',
    'ledger-unreachable': 'With the ledger unreachable nothing runs, nothing is spent, and the message comes back',
    'crashing-neighbour': 'A handler that crashes the process is dead-lettered; its neighbours have spent nothing',
    'crash-while-dead-lettering': 'A crash between copy, mark and acknowledge: no second round, no endless copies',
    'dead-while-other-retries': 'A dead handler does not run again while another one of the message retries',
    'two-dead-of-one-message':
      'Two handlers of one message dead within five minutes: two copies in the dead-letter queue',
    'claim-answer-lost': 'A claim whose answer was lost is recognised as our own',
    'commit-landed-handler-throws':
      'A commit that landed, its answer lost, and a handler that throws: done, no second run',
    'signal-ignored': 'A handler that ignores its abort signal: no answer while it runs, no successor beside it',
    'same-handler-name': 'Two consumers with a handler of the same name: each one runs',
    'unhandled-type': 'An event of a type that nobody handles is dead-lettered, unless it is listed as ignored',
    'key-again-after-expiry': 'A key enqueued again after its row expired is handled: it is a later life',
    'replay-to-done-handler': 'A replay that names a handler runs it again, and no other',
    'swallowed-commit-failure': 'A handler that swallows a failed `ctx.commit` is deferred, not done',
    'follow-up-exists': "A follow-up event that already exists never cancels the handler's commit",
    'event-bridge-wrapped': "A body wrapped by an EventBridge rule is unwrapped and deduplicated by the event's id",
  },
  'Dead letters and retention': {
    'redrive-within-dedup': 'A redrive within five minutes of the first send is delivered, under the same event id',
    'console-redrive': 'A redrive from the AWS console is handled as a fresh life of the named handler',
    'ttl-unit': 'Expiry times are in seconds',
    'ledger-retention': 'A ledger kept shorter than queue and dead-letter queue together is refused',
    'no-ttl-on-pending': 'A pending or dead row never expires',
    'operate-dead-letters': 'Operators can see, group, redrive and discard dead letters',
  },
} as const

type Titles = typeof TITLES
export type CaseArea = keyof Titles
export type CaseId = { [Area in CaseArea]: keyof Titles[Area] }[CaseArea] & string

/** Cases that no part built so far can prove, and what they wait for. */
const LATER: Partial<Record<CaseId, string>> = {}

export type Case = { readonly id: CaseId; readonly area: CaseArea; readonly title: string; readonly later?: string }

export const CASES: readonly Case[] = Object.entries(TITLES).flatMap(([area, titles]) =>
  Object.entries(titles).map(([id, title]) => describeCase(id as CaseId, area as CaseArea, title)),
)

function describeCase(id: CaseId, area: CaseArea, title: string): Case {
  const later = LATER[id]
  return later === undefined ? { id, area, title } : { id, area, title, later }
}

declare module 'vitest' {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can be merged
  interface TaskMeta {
    /** Cases that this test proves. */
    proves?: readonly CaseId[]
  }
}

/** Test options that name the cases a test proves: `it('title', proves('slow-send'), async () => …)`. */
export function proves(...ids: readonly CaseId[]): { meta: { proves: readonly CaseId[] } } {
  return { meta: { proves: ids } }
}
