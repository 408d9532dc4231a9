import { Arn, Duration, Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { AttributeType, type ITable, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { describe, expect, it } from 'vitest'
import { OutboxConsumer, type OutboxConsumerProps, TransactionalOutbox } from '../../cdk/index.ts'
import {
  brokenRules,
  CONSUMER_RULES,
  type ConsumerFacts,
  OUTBOX_RULES,
  type OutboxFacts,
  ROUTES_RULES,
  type RoutesFacts,
} from '../../cdk/rules.ts'
import { proves } from '../cases.ts'
import { createApp, someFunction } from '../support/cdk.ts'

const OUTBOX: OutboxFacts = {
  tableGiven: false,
  keyGiven: false,
  streamKnown: false,
  tableSettings: [],
  keepRelayedSeconds: undefined,
  region: 'eu-central-1',
  takeOverRegions: [],
  elsewhere: false,
}

const QUEUE = { name: 'orders', address: 'Stack/Queue', region: undefined }
const ROUTES: RoutesFacts = {
  routes: [{ destinations: [QUEUE], takesNothing: false }],
  region: 'eu-central-1',
  environmentBytes: 4096,
}
const to = (...destinations: RoutesFacts['routes'][number]['destinations']): Partial<RoutesFacts> => ({
  routes: [{ destinations, takesNothing: false }],
})

const CONSUMER: ConsumerFacts = {
  tableGiven: false,
  keyGiven: true,
  region: 'eu-central-1',
  fifo: true,
  queueGiven: false,
  queueSettings: [],
  deadLetterFifo: undefined,
  visibilitySeconds: 900,
  timeoutSeconds: 150,
  retentionSeconds: 14 * 86_400,
  deadLetterRetentionSeconds: 14 * 86_400,
  ledgerDays: 30,
  maxConcurrency: undefined,
  batchSize: 10,
  otherConsumer: undefined,
  elsewhere: [],
}

describe('what works', () => {
  it('breaks no rule', () => {
    expect(brokenRules(OUTBOX, OUTBOX_RULES)).toEqual([])
    expect(brokenRules(ROUTES, ROUTES_RULES)).toEqual([])
    expect(brokenRules(CONSUMER, CONSUMER_RULES)).toEqual([])
    expect(brokenRules({ ...CONSUMER, ledgerDays: 28, maxConcurrency: 2 }, CONSUMER_RULES)).toEqual([])
    expect(brokenRules({ ...CONSUMER, visibilitySeconds: 150 }, CONSUMER_RULES)).toEqual([])
  })
})

/** One broken rule each: what it is about, and that the message says what to do. */
describe('what does not work is told, and nothing else with it', () => {
  it.each<[string, Partial<OutboxFacts>, RegExp]>([
    ['a table without its stream', { tableGiven: true }, /Import it with `TableV2.fromTableAttributes/],
    ['a key without a Region', { keyGiven: true, region: undefined }, /give the stack an `env` with a region/],
    [
      'settings of a given table',
      { tableGiven: true, streamKnown: true, tableSettings: ['tableName'] },
      /Set it where/,
    ],
    ['rows kept for a minute', { keepRelayedSeconds: 60 }, /1 to 365 days; got 60 seconds/],
    ['rows kept for two years', { keepRelayedSeconds: 2 * 31_536_000 }, /1 to 365 days/],
    ['taking over the own Region', { takeOverRegions: ['eu-central-1'] }, /only Regions that are lost/],
    ['a table in another Region', { elsewhere: true }, /give the replica/],
  ])('outbox: %s', (_, facts, message) => {
    expect(brokenRules({ ...OUTBOX, ...facts }, OUTBOX_RULES)).toEqual([expect.stringMatching(message)])
  })

  it.each<[string, Partial<RoutesFacts>, RegExp]>([
    ['no route', { routes: [] }, /call addRoute or addConsumer/],
    ['a route to nowhere', to(), /at least one queue or event bus/],
    ['an empty list', { routes: [{ destinations: [QUEUE], takesNothing: true }] }, /Leave the list out/],
    ['a destination without a name', to({ ...QUEUE, name: '' }), /1 to 64 characters/],
    ['a name of 65 characters', to({ ...QUEUE, name: 'n'.repeat(65) }), /1 to 64 characters/],
    ['one name for two queues', to(QUEUE, { ...QUEUE, address: 'Stack/Other' }), /a name of its own/],
    ['a queue in another Region', to({ ...QUEUE, region: 'us-east-1' }), /another Region than the outbox/],
    ['more environment than Lambda has', { environmentBytes: 4097 }, /about 4097 bytes .* allows 4096/],
  ])('routes: %s', (_, facts, message) => {
    expect(brokenRules({ ...ROUTES, ...facts }, ROUTES_RULES)).toEqual([expect.stringMatching(message)])
  })

  it.each<[string, Partial<ConsumerFacts>, RegExp]>([
    ['a key without a Region', { region: undefined }, /give the stack an `env` with a region/],
    ['a queue without its dead-letter queue', { queueGiven: true }, /deadLetterQueue given too/],
    [
      'settings of a given queue',
      { queueGiven: true, deadLetterFifo: true, queueSettings: ['visibilityTimeout'] },
      /visibilityTimeout cannot be set on a given queue/,
    ],
    ['a standard dead-letter queue', { deadLetterFifo: false }, /must be FIFO/],
    ['a FIFO dead-letter queue of a standard queue', { fifo: false, deadLetterFifo: true }, /must be standard/],
    ['a ledger shorter than both queues', { ledgerDays: 27 }, /kept 27 days.*\(28 days\).*Raise ledgerRetention/],
    ['half a day of ledger', { ledgerDays: 28.5 }, /whole days/],
    ['visibility below the timeout', { visibilitySeconds: 149 }, /149 seconds, less than .* timeout of 150/],
    ['visibility over 12 hours', { visibilitySeconds: 43_201 }, /at most 12 hours/],
    ['a concurrency of 1', { maxConcurrency: 1 }, /2 to 1000; got 1/],
    ['a concurrency of 2.5', { maxConcurrency: 2.5 }, /2 to 1000; got 2.5/],
    ['a batch of 11', { batchSize: 11 }, /1 to 10; got 11/],
    ['a function that serves another consumer', { otherConsumer: 'Stack/Other' }, /already serves Stack\/Other/],
    ['an outbox in another account', { elsewhere: ['outbox'] }, /^outbox must be in the account and Region/],
  ])('consumer: %s', (_, facts, message) => {
    expect(brokenRules({ ...CONSUMER, ...facts }, CONSUMER_RULES)).toEqual([expect.stringMatching(message)])
  })
})

function stackOf(build: (stack: Stack) => void, region?: string): Stack {
  const stack = new Stack(createApp(), 'Stack', region === undefined ? {} : { env: { region } })
  build(stack)
  return stack
}

const consumer = (props: (stack: Stack) => Partial<OutboxConsumerProps>) => () =>
  stackOf((stack) => new OutboxConsumer(stack, 'Stock', { handler: someFunction(stack), ...props(stack) }))

describe('the constructs hand the rules what they need', () => {
  it.each<[string, (stack: Stack) => Partial<OutboxConsumerProps>, RegExp]>([
    ['the kind of the dead-letter queue', (stack) => ({ deadLetterQueue: new Queue(stack, 'Dead') }), /must be FIFO/],
    [
      'the timeout of the function',
      (stack) => ({
        handler: someFunction(stack, 'Slow', { timeout: Duration.minutes(15) }),
        visibilityTimeout: Duration.minutes(10),
      }),
      /600 seconds, less than the function's timeout of 900/,
    ],
    ['concurrency', () => ({ maxConcurrency: 1 }), /maxConcurrency/],
    ['a given queue', (stack) => ({ queue: new Queue(stack, 'Q', { fifo: true }) }), /deadLetterQueue given too/],
  ])('of a consumer: %s', (_, props, message) => {
    expect(consumer(props)).toThrow(
      expect.objectContaining({
        code: 'INVALID_SETTING',
        message: expect.stringMatching(new RegExp(`^Stack/Stock: .*${message.source}`)),
      }),
    )
  })

  it('a ledger kept shorter than queue and dead-letter queue together is refused', proves('ledger-retention'), () => {
    expect(consumer(() => ({ ledgerRetention: Duration.days(27) }))).toThrow(/kept 27 days, less than .* \(28 days\)/)
    expect(consumer(() => ({ ledgerRetention: Duration.days(18), retentionPeriod: Duration.days(4) }))).not.toThrow()
  })

  it('a second consumer of one function is refused', () => {
    const stack = new Stack(createApp(), 'Stack')
    const handler = someFunction(stack)
    new OutboxConsumer(stack, 'One', { handler })
    expect(() => new OutboxConsumer(stack, 'Two', { handler })).toThrow(/already serves Stack\/One/)
  })

  it('an imported table needs its stream, and takes no name', () => {
    const byName = (stack: Stack) => TableV2.fromTableName(stack, 'Table', 'outbox')
    expect(() =>
      stackOf((stack) => new TransactionalOutbox(stack, 'Outbox', { table: byName(stack), tableName: 'x' })),
    ).toThrow(/no stream that is known here.*tableName cannot be set/s)
  })

  it('an outbox without a route is not synthesised', () => {
    const stack = stackOf((scope) => new TransactionalOutbox(scope, 'Outbox'))
    expect(() => Template.fromStack(stack)).toThrow(/\[Stack\/Outbox\] The outbox has no route/)
  })

  it('routes are checked when all of them are known', () => {
    const stack = stackOf(() => {}, 'eu-west-1')
    const queues = ['A', 'B'].map((id) => new Queue(stack, id, { fifo: true })) as [Queue, Queue]
    const far = Queue.fromQueueArn(stack, 'Far', 'arn:aws:sqs:us-east-1:111122223333:q.fifo')
    const outbox = new TransactionalOutbox(stack, 'Outbox', { routes: [{ to: { name: 'q', queue: queues[0] } }] })
    expect(outbox.node.validate()).toEqual([])
    outbox.addRoute({ to: { name: 'q', queue: queues[1] } })
    outbox.addRoute({ to: { name: 'far', queue: far } })
    expect(outbox.node.validate()).toEqual([
      expect.stringMatching(/Two destinations have the same name/),
      expect.stringMatching(/another Region than the outbox \(eu-west-1\)/),
    ])
  })

  it('routes fit into the environment up to Lambda’s 4 KB, with an estimate for what is known at deployment only', () => {
    const withTypes = (characters: number) => {
      const stack = stackOf(() => {})
      const to = { name: 'q', queue: new Queue(stack, 'Queue', { fifo: true }) }
      const routes = [{ type: 't'.repeat(characters), to }]
      return new TransactionalOutbox(stack, 'Outbox', { routes }).node.validate()
    }
    // Names and brackets take some 80 bytes; table name and address are estimated at 140 each.
    expect(withTypes(3_700)).toEqual([])
    expect(withTypes(3_800)).toEqual([
      expect.stringMatching(/need about 41\d\d bytes of environment; Lambda allows 4096/),
    ])
  })

  it('twelve imported destinations fit, though account and Region are known at deployment only', () => {
    const stack = stackOf(() => {})
    const to = Array.from({ length: 12 }, (_, n) => ({
      name: `team-${n}`,
      queue: Queue.fromQueueArn(stack, `Q${n}`, Arn.format({ service: 'sqs', resource: `team-${n}.fifo` }, stack)),
    }))
    expect(new TransactionalOutbox(stack, 'Outbox', { routes: [{ to }] }).node.validate()).toEqual([])
  })

  it('an outbox or a ledger that is known to be in another account or Region is refused', () => {
    const tableIn = (place: string) => `arn:aws:dynamodb:${place}:table/t`
    const withOutbox = (place: string) => () => {
      const stack = new Stack(createApp(), 'Stack', { env: { account: '111111111111', region: 'eu-west-1' } })
      const table = TableV2.fromTableAttributes(stack, 'Table', { tableArn: tableIn(place) })
      const outbox = TransactionalOutbox.fromOutboxAttributes(stack, 'Outbox', { table })
      new OutboxConsumer(stack, 'Stock', { handler: someFunction(stack), outbox, ledgerTable: table })
    }
    expect(withOutbox('eu-west-1:111111111111')).not.toThrow()
    for (const place of ['eu-west-1:222222222222', 'us-east-1:111111111111'])
      expect(withOutbox(place)).toThrow(/outbox and ledgerTable must be in the account and Region of the consumer/)
  })

  it('of a global table, an outbox takes the replica of its own Region only', () => {
    const account = '111111111111'
    const primary = new Stack(createApp(), 'Primary', { env: { account, region: 'eu-west-1' } })
    const table = new TableV2(primary, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      replicas: [{ region: 'us-east-1' }],
    })
    const elsewhere = new Stack(primary, 'Elsewhere', { env: { account, region: 'us-east-1' } })
    expect(() => new TransactionalOutbox(elsewhere, 'Far', { table: table as ITable })).toThrow(/give the replica/)
    const replica = table.replica('us-east-1') as ITable
    expect(() => new TransactionalOutbox(elsewhere, 'Near', { table: replica })).not.toThrow()
  })
})
