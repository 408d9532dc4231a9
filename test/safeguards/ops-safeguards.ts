import type { Safeguard } from './safeguard.ts'

const ROW = 'test/ops/redrive-row.test.ts'
const REPLAY = 'test/ops/replay.test.ts'
const MESSAGES = 'test/ops/redrive-messages.test.ts'

/** Rules of redriving. */
export const OPS_SAFEGUARDS: readonly Safeguard[] = [
  {
    name: 'redrive: a row moves only while it is dead',
    file: 'src/ops/dynamo-row-changes.ts',
    find: ".join(' AND ')}`",
    replace: ".join(' OR ')} OR :round = :round`",
    test: { file: ROW, title: 'moves a row once for two operators at once' },
  },
  {
    name: 'redrive: a row goes under a new deduplication id',
    file: 'src/ops/dynamo-row-changes.ts',
    find: 'redrives: { N: String(row.redrives + 1) }',
    replace: 'redrives: { N: String(row.redrives) }',
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
    find: '!stuck.has(groupIn(message))',
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
    find: 'await release(queue, hold.handles())',
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
    find: 'page.length > 0 && known <= held.size',
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
  {
    name: 'replay: what it has moved already is not moved again',
    file: 'src/ops/replay.ts',
    find: 'if (row.note?.life === life) count.before += 1',
    replace: 'if (row.note?.life === -life) count.before += 1',
    test: { file: REPLAY, title: 'killed at any request and run again' },
  },
  {
    name: 'replay: one that has ended is not begun anew by itself',
    file: 'src/ops/replay.ts',
    find: 'if (ended !== undefined) return',
    replace: 'if (ended === -1) return',
    test: { file: REPLAY, title: 'that has ended does nothing when it is run once more' },
  },
  {
    name: 'replay: the rows of a group in turn',
    file: 'src/ops/replay.ts',
    find: 'for (const row of rows) if (!signal?.aborted) await act(row)',
    replace: 'for (const row of rows.toReversed()) if (!signal?.aborted) await act(row)',
    test: { file: REPLAY, title: 'killed at any request and run again' },
  },
  {
    name: 'replay: every destination gets it again',
    file: 'src/ops/dynamo-row-changes.ts',
    find: "remove: ['accepted', 'expires', 'token']",
    replace: "remove: ['expires', 'token']",
    test: { file: REPLAY, title: 'sends relayed events again, as a later life' },
  },
  {
    name: 'replay: the handlers named go with the message',
    file: 'src/relay/outgoing-message.ts',
    find: '...(row.note === undefined ? {} : { note: row.note }),',
    replace: '',
    test: { file: REPLAY, title: 'sends relayed events again, as a later life' },
  },
  {
    name: 'replay: a consumer that is not named has nothing to do',
    file: 'src/consumer/job.ts',
    find: 'if (!isReplay(note)) return true',
    replace: 'if (name) return true',
    test: { file: 'test/consumer/delivery.test.ts', title: 'a replay is nothing to a consumer' },
  },
]
