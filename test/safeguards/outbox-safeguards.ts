import type { Safeguard } from './safeguard.ts'

const FAULTS = 'test/integration/transact-faults.test.ts'
const TRANSACT = 'test/integration/transact.test.ts'

/** Rules of the write path. */
export const OUTBOX_SAFEGUARDS: readonly Safeguard[] = [
  {
    name: 'outbox: no auto number comes back after its row has expired',
    file: 'src/outbox/number-events.ts',
    find: 'isYoung ? next : Math.max(firstSequence(now), next)',
    replace: 'highest !== undefined || isYoung ? next : firstSequence(now)',
    test: { file: 'test/integration/transact.test.ts', title: 'gives out no number again whose row has expired' },
  },
  {
    name: 'outbox: a row of our own instance means stored',
    file: 'src/outbox/judge-row.ts',
    find: `if (instance === wanted.instance) return 'own'`,
    replace: '',
    test: { file: FAULTS, title: 'loses against our own row: the first try had been applied' },
  },
  {
    name: 'outbox: a row is never overwritten',
    file: 'src/outbox/build-row.ts',
    find: `ConditionExpression: 'attribute_not_exists(pk)'`,
    replace: `ConditionExpression: 'attribute_not_exists(pk) OR attribute_exists(pk)'`,
    test: { file: TRANSACT, title: 'is a conflict that changes nothing when the stored event differs' },
  },
  {
    name: 'outbox: data counts when events are compared',
    file: 'src/outbox/judge-row.ts',
    find: `isSameData(body, wanted.dataText) ? 'equal' : 'different'`,
    replace: `'equal'`,
    test: { file: TRANSACT, title: 'is a conflict that changes nothing when the stored event differs' },
  },
  {
    name: "outbox: a duplicate wins over the caller's failed condition",
    file: 'src/outbox/decide-cancellation.ts',
    find: `if (onExisting === 'cancel' && equal > 0) return equal === keyed.length ? { kind: 'duplicate' } : mixed(cancellation)`,
    replace: '',
    test: { file: TRANSACT, title: 'writes nothing twice when a job runs again' },
  },
  {
    name: 'outbox: rows that were not reported are looked at',
    file: 'src/outbox/decide-cancellation.ts',
    find: `if (mustLook(cancellation)) return { kind: 'look' }`,
    replace: '',
    test: { file: FAULTS, title: 'loses against a stored event that the engine did not report' },
  },
  {
    name: 'outbox: no answer is not a failure',
    file: 'src/outbox/after-failure.ts',
    find: `      return { status: 'unknown', cause }
  }
}

/**
 * The token is known`,
    replace: `      return { status: 'busy', reason: 'failed', cause }
  }
}

/**
 * The token is known`,
    test: { file: FAULTS, title: 'stays unknown when the rows cannot be read' },
  },
  {
    name: "outbox: the SDK's own tries may have been applied",
    file: 'src/outbox/after-failure.ts',
    find: 'maybeApplied: given.maybeApplied || failure.sentBefore',
    replace: 'maybeApplied: given.maybeApplied',
    test: { file: FAULTS, title: 'counts tries inside the SDK too' },
  },
  {
    name: 'outbox: other actions go under a new token',
    file: 'src/outbox/commit-transaction.ts',
    find: '{ token: deps.clock.id(), skipped: step.skipped }',
    replace: '{ token: planned.attempt.token, skipped: step.skipped }',
    test: { file: FAULTS, title: 'are taken anew under a new token when another writer was faster' },
  },
  {
    name: 'outbox: rows are read back consistently',
    file: 'src/outbox/dynamo-session.ts',
    find: 'Key: marshalItem(key), ConsistentRead: true',
    replace: 'Key: marshalItem(key)',
    test: { file: FAULTS, title: 'is looked for with consistent reads' },
  },
  {
    name: 'outbox: our own row proves the commit before all else',
    file: 'src/outbox/decide-cancellation.ts',
    find: `if (rows.some(({ standing }) => standing === 'own')) return { kind: 'committed' }`,
    replace: '',
    test: { file: FAULTS, title: 'means stored for a batch whose rows are all our own' },
  },
  {
    name: 'outbox: what SQS refuses is escaped',
    file: 'src/event/codec.ts',
    find: `text.replace(/[\\uFFFE\\uFFFF]/g, (character) => \`\\\\u\${character.charCodeAt(0).toString(16)}\`)`,
    replace: 'text',
    test: { file: 'test/event/codec.test.ts', title: 'holds only characters that SQS takes' },
  },
  {
    name: 'outbox: an event of an expired group never gets an old number',
    file: 'src/event/identity.ts',
    find: 'Math.floor(nowMs / 86_400_000) * 1e9 + 1',
    replace: '1 + 0 * nowMs',
    test: {
      file: 'test/event/identity.test.ts',
      title: 'starts an empty group at a number that no earlier day can have reached',
    },
  },
]
