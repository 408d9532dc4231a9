import type { Safeguard } from './safeguard.ts'

const ROW = 'test/ops/redrive-row.test.ts'
const MESSAGES = 'test/ops/redrive-messages.test.ts'

/** Rules of redriving. */
export const OPS_SAFEGUARDS: readonly Safeguard[] = [
  {
    name: 'redrive: a row moves only while it is dead',
    file: 'src/ops/dynamo-redrive-row.ts',
    find: "ConditionExpression: '#shard = :dead'",
    replace: "ConditionExpression: ':dead = :dead'",
    test: { file: ROW, title: 'moves a row once for two operators at once' },
  },
  {
    name: 'redrive: a row goes under a new deduplication id',
    file: 'src/ops/dynamo-redrive-row.ts',
    find: "':one': { N: '1' }",
    replace: "':one': { N: '0' }",
    test: { file: ROW, title: 'under a new deduplication id to whom it is missing' },
  },
  {
    name: 'relay: a row that dies keeps who took it',
    file: 'src/relay/dynamo-row-requests.ts',
    find: 'if (accepted.length === 0)',
    replace: 'if (accepted.length >= 0)',
    test: { file: ROW, title: 'under a new deduplication id to whom it is missing' },
  },
  {
    name: 'redrive: deleted only once the queue has accepted it',
    file: 'src/ops/redrive-messages.ts',
    find: 'await remove(queue, accepted)',
    replace: 'await remove(queue, free)',
    test: { file: MESSAGES, title: 'takes a message in neither list of an answer' },
  },
  {
    name: 'redrive: nothing of a group is sent after one that was refused',
    file: 'src/ops/redrive-messages.ts',
    find: '!stuck.has(groupOf(message))',
    replace: 'message !== undefined',
    test: { file: MESSAGES, title: 'leaves a refused message and what follows it in its group' },
  },
  {
    name: 'redrive: one of a group in each request',
    file: 'src/ops/dead-letter.ts',
    find: 'inRounds(messages).flatMap(packed)',
    replace: 'packed(messages)',
    test: { file: MESSAGES, title: 'leaves a refused message and what follows it in its group' },
  },
  {
    name: "redrive: a copy goes under its own deduplication id, not under another's",
    file: 'src/ops/dead-letter.ts',
    find: '(copied ? Attributes?.MessageDeduplicationId : undefined) ?? MessageId',
    replace: 'message.ReceiptHandle',
    test: { file: MESSAGES, title: 'adds nothing when it is repeated after a send whose answer was lost' },
  },
  {
    name: 'redrive: what is left is visible at once',
    file: 'src/ops/walk-dead-letters.ts',
    find: 'await release(queue, held.handles())',
    replace: '',
    test: { file: MESSAGES, title: 'all others stay, and are visible at once' },
  },
  {
    name: 'redrive: what comes back dead during a pass is left',
    file: 'src/ops/redrive-messages.ts',
    find: '!returns.has(message) && ',
    replace: '',
    test: { file: MESSAGES, title: 'does not play ball with a handler that still fails for good' },
  },
  {
    name: 'redrive: messages that show again do not end the pass',
    file: 'src/ops/walk-dead-letters.ts',
    find: 'page.length > 0 && known <= handles.size',
    replace: 'fresh.length > 0',
    test: { file: MESSAGES, title: 'sees all of them though they show again before its end' },
  },
  {
    name: 'a redriven letter is a later life of its handler',
    file: 'src/consumer/dead-letter-copy.ts',
    find: 'life: life + 1',
    replace: 'life',
    test: { file: 'test/integration/pipeline-dead-letters.test.ts', title: 'a redrive from the AWS console' },
  },
]
