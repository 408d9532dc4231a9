import type { Safeguard } from './safeguard.ts'

const PULL = 'test/outbox/pull.test.ts'
const STORE = 'test/contract/pull-store.test.ts'
const WORKER = 'test/consumer/run-pull-worker.test.ts'
const ENGINE = 'test/integration/pull.test.ts'

/** Rules of pull workers. */
export const PULL_SAFEGUARDS: readonly Safeguard[] = [
  {
    name: 'pull: a change lands only on the version it was decided from',
    file: 'src/outbox/dynamo-pull-store.ts',
    find: "ConditionExpression: guards.join(' AND ')",
    replace: "ConditionExpression: guards.slice(0, 1).join(' AND ')",
    test: { file: STORE, title: 'are refused for another time' },
  },
  {
    name: 'pull: the claim after the last allowed one dead-letters',
    file: 'src/outbox/pull-row.ts',
    find: 'if (claims < maxClaims)',
    replace: 'if (claims < maxClaims + 100)',
    test: { file: PULL, title: 'after the last allowed one dead-letters' },
  },
  {
    name: 'pull: a claim answers only until its lease ends',
    file: 'src/outbox/create-puller.ts',
    find: 'if (clock.now() >= hold.lease) return false',
    replace: '',
    test: { file: 'test/property/pull-claims.property.test.ts', title: 'write nothing stale' },
  },
  {
    name: 'pull: a claim is for what is due',
    file: 'src/outbox/pull-row.ts',
    find: "if (!isDueAt(version.due ?? 0, now)) return { action: 'leave', why: 'wait' }",
    replace: '',
    test: { file: PULL, title: 'waits for a head that failed' },
  },
  {
    name: 'pull: of a group only the head',
    file: 'src/outbox/pull-claim.ts',
    find: 'await findHead(store, candidate.pk, candidate.shown)',
    replace: "await store.readRow({ pk: candidate.pk, sk: String(candidate.shown).padStart(16, '0') })",
    test: { file: PULL, title: 'waits for a head that failed' },
  },
  {
    name: 'pull: a torn read does not begin a group in its middle',
    file: 'src/outbox/pull-head.ts',
    find: "return (await store.readBefore(pair)) === 'absent'",
    replace: "return pair.sk !== ''",
    test: { file: PULL, title: 'is not begun at a row whose predecessor' },
  },
  {
    name: 'pull: a deferral gives the claim back',
    file: 'src/outbox/pull-changes.ts',
    find: 'claims: hold.claims - 1',
    replace: 'claims: hold.claims',
    test: { file: PULL, title: 'of release gives the claim back' },
  },
  {
    name: 'pull: a claim whose answer was lost is our own',
    file: 'src/outbox/pull-claim.ts',
    find: "(stored) => stored['token'] === token",
    replace: '() => false',
    test: { file: PULL, title: 'whose answer was lost is recognised' },
  },
  {
    name: 'pull: rows of another Region are its own',
    file: 'src/outbox/pull-row.ts',
    find: "if (region !== undefined && region !== at.region) return { kind: 'elsewhere' }",
    replace: '',
    test: { file: PULL, title: 'is for rows of this source and Region' },
  },
  {
    name: 'pull: nothing is answered inside collect',
    file: 'src/outbox/create-puller.ts',
    find: 'if (!isCollecting()) return',
    replace: 'if (isCollecting !== undefined) return',
    test: { file: ENGINE, title: 'claims and answers nothing inside collect' },
  },
  {
    name: 'pull: a blocked group does not hide the others of its shard',
    file: 'src/outbox/pull-look.ts',
    find: 'let after = cursors.get(shard) ?? front.entries.at(-1)',
    replace: 'let after = front.entries.at(-1)',
    test: { file: PULL, title: 'that waits with many rows does not hide the others' },
  },
  {
    name: 'pull: a redriven row goes back to its workers',
    file: 'src/outbox/row.ts',
    find: 'return (row.claims === undefined ? undefined : pullShard(row)) ?? pendingShard(row)',
    replace: 'return pendingShard(row)',
    test: { file: ENGINE, title: 'goes back to them when it is redriven by its id' },
  },
  {
    name: 'pull: a row is not dead while a handler is to run again',
    file: 'src/consumer/pull-delivery.ts',
    find: "if (dues.length > 0) return { status: 'later', due: Math.min(...dues) }",
    replace: '',
    test: { file: WORKER, title: 'sets an event aside once its handlers have given up or ended' },
  },
  {
    name: 'pull: a redriven row is a later life of the handlers that gave up',
    file: 'src/consumer/pull-delivery.ts',
    find: '...exhausted.map((one) => one.life)) + 1',
    replace: '...exhausted.map((one) => one.life))',
    test: { file: WORKER, title: 'sets an event aside once its handlers have given up or ended' },
  },
  {
    name: 'pull: what crashed beside others runs alone',
    file: 'src/consumer/run-pull-worker.ts',
    find: 'await run(worker, renewed, true)',
    replace: 'start(worker, renewed)',
    test: { file: WORKER, title: 'that dies leaves its events to another, which runs each alone' },
  },
  {
    name: 'ledger: a later life of a handler that crashed at its limit starts anew',
    file: 'src/ledger/decide-claim.ts',
    find: 'return request.life > entry.life ? startAnew(request) : exhausted({ ...entry, failure: CRASHED }, attempts)',
    replace: 'return exhausted({ ...entry, failure: CRASHED }, attempts)',
    test: { file: 'test/ledger/decide-claim.test.ts', title: 'anew for a later life' },
  },
]
