import type { Safeguard } from './safeguard.ts'

const BATCH = 'test/relay/relay-batch.test.ts'
const GROUP = 'test/relay/relay-group.test.ts'
const SWEEP = 'test/relay/sweep.test.ts'
const STORE = 'test/contract/row-store.test.ts'
const SQS = 'test/relay/sqs-publisher.test.ts'

/** Rules of relay and sweeper. */
export const RELAY_SAFEGUARDS: readonly Safeguard[] = [
  {
    name: 'relay: one entry per group per request',
    file: 'src/relay/plan-requests.ts',
    find: 'if (taken.has(entry.groupId)) {',
    replace: 'if (busy.has(entry.groupId)) {',
    test: { file: 'test/relay/sender.test.ts', title: 'sends entries of one group one after the other' },
  },
  {
    name: 'relay: a group stops at the first row that is not accepted',
    file: 'src/relay/relay-chunk.ts',
    find: 'if (lane.silent.has(name)) return',
    replace: '',
    test: { file: GROUP, title: 'holds every later one of its group back' },
  },
  {
    name: 'relay: only the longest prefix accepted everywhere is marked',
    file: 'src/relay/relay-chunk.ts',
    find: 'inTurn: !lane.broken',
    replace: 'inTurn: true',
    test: { file: GROUP, title: 'marks nothing behind a pending row in later chunks either' },
  },
  {
    name: 'relay: a refused row dies only once the earlier marks have landed',
    file: 'src/relay/relay-chunk.ts',
    find: 'if (landed.includes(false)) return false',
    replace: '',
    test: { file: GROUP, title: 'is not dead-lettered while the mark of an earlier row has not landed' },
  },
  {
    name: 'relay: a refused row dies only once every other destination has it',
    file: 'src/relay/decide-row.ts',
    find: 'refusals.length < missing.length',
    replace: 'missing.length > refusals.length && refusals.length === 0',
    test: { file: BATCH, title: 'dead-letters a row that one refuses only once all others have it' },
  },
  {
    name: 'relay: the row before is looked up where a read shows a gap',
    file: 'src/relay/relay-group.ts',
    find: `!== 'absent') return index`,
    replace: `=== 'busy') return index`,
    test: { file: GROUP, title: 'looks the earlier row up, reads again, and sends in order' },
  },
  {
    name: 'relay: nothing is sent from an old read',
    file: 'src/relay/sender.ts',
    find: 'now > entry.notAfter',
    replace: 'entry.notAfter < 0',
    test: { file: GROUP, title: 'is not sent from a read older than a minute' },
  },
  {
    name: 'relay: an old record is read back first',
    file: 'src/relay/stream-record.ts',
    find: 'return now - Math.min(created, recorded) > GRACE_MS',
    replace: 'return created + recorded < 0',
    test: { file: BATCH, title: 'sends nothing of a day of old records' },
  },
  {
    name: 'relay: a tail that begins too deep is not sent',
    file: 'src/relay/find-tail.ts',
    find: `  return { kind: 'deep' }
}

/** Small`,
    replace: `  return found(kept, lowest, undefined)
}

/** Small`,
    test: { file: GROUP, title: 'leaves a group whose pending tail begins too deep to the sweeper' },
  },
  {
    name: 'relay: a deep tail begins with a row that was never sent',
    file: 'src/relay/find-tail.ts',
    find: "first?.kind !== 'pending' || first.replayed || first.row.redrives > 0",
    replace: 'first === undefined',
    test: { file: GROUP, title: 'leaves a deep tail to the sweeper if the first row of the batch was redriven' },
  },
  {
    name: 'relay: rows of another Region are left to it',
    file: 'src/relay/row-image.ts',
    find: 'region !== undefined && !regions.has(region)',
    replace: 'region === undefined && !regions.has("")',
    test: { file: BATCH, title: 'leaves the rows of another Region to it' },
  },
  {
    name: 'relay: what a destination has, it does not get again',
    file: 'src/relay/relay-unordered.ts',
    find: 'destinations.filter((name) => !row.accepted.has(name))',
    replace: 'destinations',
    test: { file: BATCH, title: 'marks a row only when all have it' },
  },
  {
    name: 'relay: an outage dead-letters nothing',
    file: 'src/relay/sqs-batch.ts',
    find: `return { status: 'failed', reason: code }`,
    replace: `return { status: 'refused', reason: code }`,
    test: { file: SQS, title: 'of a whole request for an outage of all its entries' },
  },
  {
    name: 'relay: an entry in neither list was not sent',
    file: 'src/relay/sqs-batch.ts',
    find: `return sent ? { status: 'accepted' }`,
    replace: `return sent || failed === undefined ? { status: 'accepted' }`,
    test: { file: SQS, title: 'accounts for each entry of a 200 answer' },
  },
  {
    name: 'relay: one entry does not condemn its request',
    file: 'src/relay/sqs-batch.ts',
    find: 'return ENTRY_ERRORS.has(plainCode(errorName(error)))',
    replace: 'return ENTRY_ERRORS.size < plainCode(errorName(error)).length - 1000',
    test: { file: SQS, title: 'so that one does not condemn the others' },
  },
  {
    name: 'relay: a mark lands only in the round that was sent',
    file: 'src/relay/dynamo-row-requests.ts',
    find: `(redrivesStored ? '"redrives" = ?' : '"redrives" IS MISSING')`,
    replace: `(redrivesStored ? '"redrives" = ?' : '"shard" IS NOT MISSING')`,
    test: { file: STORE, title: 'answers for each row: landed, or gone' },
  },
  {
    name: 'relay: only a pending row is dead-lettered or noted',
    file: 'src/relay/dynamo-row-requests.ts',
    find: 'ConditionExpression: `#shard = :shard$',
    replace: 'ConditionExpression: `(#shard = :shard OR attribute_exists(#shard))$',
    test: { file: STORE, title: 'is refused for a row that is not pending, or is of another round' },
  },
  {
    name: 'relay: expiry in seconds',
    file: 'src/relay/marker.ts',
    find: 'Math.floor(clock.now() / 1000) + keepSeconds',
    replace: 'Math.floor(clock.now()) + keepSeconds',
    test: { file: 'test/relay/marker.test.ts', title: 'writes expiry times in seconds' },
  },
  {
    name: 'relay: a redrive has a deduplication id of its own',
    file: 'src/relay/outgoing-message.ts',
    find: 'row.redrives === 0 ? row.id',
    replace: 'row.redrives >= 0 ? row.id',
    test: { file: 'test/relay/outgoing-message.test.ts', title: 'has the event id as deduplication id' },
  },
  {
    name: 'relay: records are reported when nobody answers',
    file: 'src/relay/relay-batch.ts',
    find: `(end === 'unsent' && nobodyAnswered)`,
    replace: `(end === 'unsent' && nobodyAnswered && false)`,
    test: { file: BATCH, title: 'reports every record when no destination answers' },
  },
  {
    name: 'sweeper: a group begins at its lowest pending row',
    file: 'src/relay/find-tail.ts',
    find: 'if (descent.lowest === undefined) return { chunk: await',
    replace: 'if (descent.lowest !== -1) return { chunk: await',
    test: { file: SWEEP, title: 'begins at the lowest pending row, though the index shows only a later one' },
  },
  {
    name: 'sweeper: a due far ahead counts as due',
    file: 'src/outbox/row.ts',
    find: 'return due <= now || due > now + DUE_HORIZON_MS',
    replace: 'return due <= now',
    test: { file: SWEEP, title: 'counts a due more than 25 hours ahead as due' },
  },
  {
    name: 'sweeper: rows in their grace are left alone',
    file: 'src/relay/sweep-index.ts',
    find: 'entries.filter((entry) => isDue(entry, now))',
    replace: 'entries.filter((entry) => isDue(entry, now) || true)',
    test: { file: SWEEP, title: 'leaves rows alone during their grace' },
  },
  {
    name: 'sweeper: a destination that does not answer is paused',
    file: 'src/relay/pause.ts',
    find: 'paused ||= silentRequests >= PAUSE_AFTER',
    replace: 'paused ||= silentRequests >= PAUSE_AFTER * 1e9',
    test: { file: SWEEP, title: 'spends nothing and writes nothing while SQS is down for an hour' },
  },
  {
    name: 'relay: a writer faster than the queue does not hold the shard up',
    file: 'src/relay/relay-group.ts',
    find: 'lane.last >= newest ? undefined',
    replace: 'lane.last > Number.MAX_SAFE_INTEGER && newest > 0 ? undefined',
    test: { file: 'test/relay/relay-group.test.ts', title: 'is not held up by a writer who is faster' },
  },
  {
    name: 'relay: a group holds 256 KB between two reads',
    file: 'src/relay/group-chunk.ts',
    find: 'before > 0 && length > CHUNK_LENGTH',
    replace: 'before > 0 && length > CHUNK_LENGTH * 100',
    test: { file: 'test/relay/group-chunk.test.ts', title: 'keeps 256 KB of waiting rows' },
  },
]
