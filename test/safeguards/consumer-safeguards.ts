import type { Safeguard } from './safeguard.ts'

const LEDGER = 'test/contract/ledger.test.ts'
const BATCH = 'test/consumer/batch.test.ts'
const DELIVERY = 'test/consumer/delivery.test.ts'

/** Rules of ledger and consumer. */
export const CONSUMER_SAFEGUARDS: readonly Safeguard[] = [
  {
    name: 'consumer: only the owner of a claim writes',
    file: 'src/ledger/statements.ts',
    find: 'AND "token" = ? AND "status" = ?',
    replace: 'AND ("token" = ? OR "status" = ? OR "lease" > 0)',
    test: { file: LEDGER, title: 'refuses every write of a stale worker' },
  },
  {
    name: 'consumer: a lapsed claim runs only alone',
    file: 'src/ledger/decide-claim.ts',
    find: `if (!request.alone) return { action: 'wait-alone', crashes: attempts }`,
    replace: '',
    test: { file: BATCH, title: 'leaves lapsed claims to run one at a time' },
  },
  {
    name: 'consumer: a crash alone spends an attempt',
    file: 'src/ledger/decide-claim.ts',
    find: 'const attempts = entry.attempts + 1',
    replace: 'const attempts = entry.attempts',
    test: { file: BATCH, title: 'costs its own handler attempts and the neighbours none' },
  },
  {
    name: 'consumer: an expired row counts as absent',
    file: 'src/ledger/decide-claim.ts',
    find: ' || entry.expires * 1000 <= now',
    replace: '',
    test: { file: LEDGER, title: 'takes over an expired row that is not deleted yet' },
  },
  {
    name: 'consumer: done and dead start anew only for a later life',
    file: 'src/ledger/decide-claim.ts',
    find: `return later ? anew : { action: 'skip', status: entry.status }`,
    replace: `return { action: 'skip', status: entry.status }`,
    test: { file: DELIVERY, title: 'of a redriven copy runs the named handler as a fresh life' },
  },
  {
    name: 'consumer: a write whose answer was lost is recognised',
    file: 'src/ledger/claims.ts',
    find: `if (answer.status === 'refused' && isOurs(write, answer.entry)) return { status: 'applied' }`,
    replace: '',
    test: { file: 'test/property/ledger-claims.property.test.ts', title: 'end the same whatever answers are lost' },
  },
  {
    name: 'consumer: two statements on one row never share a request',
    file: 'src/ledger/coalesce.ts',
    find: 'keys.has(key) ? later : now',
    replace: 'now',
    test: { file: 'test/ledger/coalesce.test.ts', title: 'never sends two jobs of one key together' },
  },
  {
    name: 'consumer: an applied statement stays applied when the read after it fails',
    file: 'src/ledger/dynamo-store.ts',
    find: '.catch(() => undefined)',
    replace: '',
    test: { file: 'test/ledger/dynamo-store.test.ts', title: 'of a failed read do not touch those' },
  },
  {
    name: 'consumer: nothing later of a group runs after a failure',
    file: 'src/consumer/batch.ts',
    find: '      return\n',
    replace: '',
    test: { file: BATCH, title: 'keeps the rest of a group after a failure' },
  },
  {
    name: 'consumer: a message that is not ours does not run',
    file: 'src/consumer/batch.ts',
    find: 'if (lost.has(message)) return',
    replace: 'if (lost.size > 99) return',
    test: { file: BATCH, title: 'does not run a message whose handle the queue refuses' },
  },
  {
    name: 'consumer: a batch shows again right after its claims lapse',
    file: 'src/consumer/visibility.ts',
    find: 'secondsUntil(leaseLeftMs + AFTER_LEASE_MS, 0)',
    replace: '900',
    test: { file: BATCH, title: 'in mid-handler is retried within seconds of the lease' },
  },
  {
    name: 'consumer: a commit that landed is done',
    file: 'src/consumer/decide-settlement.ts',
    find: `if (commit.status === 'landed') return { action: 'none', threw: end.threw }`,
    replace: '',
    test: { file: DELIVERY, title: 'that landed is done, though the handler throws' },
  },
  {
    name: 'consumer: a commit without a definite end is a deferral',
    file: 'src/consumer/decide-settlement.ts',
    find: `commit.status === 'undecided' || `,
    replace: '',
    test: { file: DELIVERY, title: 'whose failure the handler swallows is a deferral' },
  },
  {
    name: 'consumer: what may pass spends no attempt',
    file: 'src/consumer/decide-settlement.ts',
    find: ' || (end.threw && isPassing(end.error))',
    replace: '',
    test: { file: DELIVERY, title: 'spends nothing by errors that may pass' },
  },
  {
    name: 'consumer: a commit that nobody awaits is waited for',
    file: 'src/consumer/commit-context.ts',
    find: '      await running\n',
    replace: '',
    test: { file: DELIVERY, title: 'that the handler did not await is waited for' },
  },
  {
    name: 'consumer: handler and life are in the id of a dead letter',
    file: 'src/consumer/dead-letter-copy.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    find: ' ${name} ${life}',
    replace: '',
    test: { file: DELIVERY, title: 'both dead within five minutes, leave two copies' },
  },
  {
    name: 'consumer: a dead letter carries the next life',
    file: 'src/consumer/dead-letter-copy.ts',
    find: 'life: life + 1',
    replace: 'life',
    test: { file: DELIVERY, title: 'of a redriven copy runs the named handler as a fresh life' },
  },
  {
    name: 'consumer: dead only after the copy was taken',
    file: 'src/consumer/delivery.ts',
    find: `if (sent.status === 'failed') {`,
    replace: `if (sent.status === 'failed' && attempts > 99) {`,
    test: { file: DELIVERY, title: 'waits while the dead-letter queue refuses' },
  },
  {
    name: 'consumer: no commit begins after its handler has ended',
    file: 'src/consumer/commit-context.ts',
    find: 'ended = true',
    replace: '',
    test: { file: DELIVERY, title: 'is refused once the handler has ended' },
  },
  {
    name: 'consumer: a copy that would be too large leaves attributes out',
    file: 'src/consumer/dead-letter-copy.ts',
    find: '[all, ours].find((some) => attributeBytes(some) <= room) ?? {}',
    replace: '[all, ours].find((some) => attributeBytes(some) <= Math.abs(room) + 1e6) ?? {}',
    test: { file: DELIVERY, title: 'of a message as large as SQS takes leaves out' },
  },
]
