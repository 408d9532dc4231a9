import { describe, expect, it } from 'vitest'
import { checkDeployment } from '../../src/ops/check-deployment.ts'
import { relayFilter } from '../../src/ops/check-mappings.ts'
import type { ConsumerFacts, Deployment, MappingFacts, QueueFacts, TableFacts } from '../../src/ops/deployment.ts'

const NOW = Date.UTC(2026, 11, 1)
const STREAM = 'arn:aws:dynamodb:eu-west-1:1:table/orders/stream/2026-11-01T00:00:00.000'
const arnOf = (name: string) => `arn:aws:sqs:eu-west-1:1:${name}`
const urlOf = (name: string) => `https://sqs.eu-west-1.amazonaws.com/1/${name}`

const table = (name: string, more: Partial<TableFacts> = {}): TableFacts => ({
  name,
  keys: ['pk:S', 'sk:S'],
  timeToLive: 'expires',
  streamArn: undefined,
  streamView: undefined,
  indexes: [],
  stronglyConsistentReplicas: false,
  ...more,
})
const fn = (name: string, environment: Record<string, string> = {}) => ({
  name,
  arn: `arn:aws:lambda:eu-west-1:1:function:${name}`,
  runtime: 'nodejs24.x',
  timeoutSeconds: 30,
  environment,
})
const mapping = (more: Partial<MappingFacts> = {}): MappingFacts => ({
  id: 'uuid-1',
  sourceArn: STREAM,
  state: 'Enabled',
  startingPosition: 'TRIM_HORIZON',
  reportsFailures: true,
  bisects: true,
  retries: 10,
  maxAgeSeconds: 82_800,
  filters: [JSON.stringify(relayFilter('eu-west-1'))],
  ...more,
})
const queue = (name: string, more: Partial<QueueFacts> = {}): QueueFacts => ({
  url: urlOf(name),
  arn: arnOf(name),
  fifo: true,
  deduplicationScope: 'messageGroup',
  throughputLimit: 'perMessageGroupId',
  visibilitySeconds: 900,
  retentionSeconds: 1_209_600,
  redrive: undefined,
  ...more,
})
const redrive = { targetArn: arnOf('shop-dead.fifo'), maxReceiveCount: 1000 }
const names = {
  name: 'Shop/Outbox',
  outboxTable: 'orders',
  relay: 'relay',
  sweeper: 'sweeper',
  consumers: [],
}

const shop: ConsumerFacts = {
  name: 'shop',
  handlerName: 'shop-handlers',
  queueUrl: urlOf('shop.fifo'),
  deadLetterQueueUrl: urlOf('shop-dead.fifo'),
  ledgerName: 'ledger',
  queue: queue('shop.fifo', { redrive }),
  deadLetterQueue: queue('shop-dead.fifo'),
  handler: fn('shop-handlers', { LEDGER_TABLE: 'ledger', QUEUE_URL: urlOf('shop.fifo') }),
  ledger: table('ledger'),
  mappings: [mapping({ id: 'uuid-2', sourceArn: arnOf('shop.fifo'), startingPosition: undefined, filters: [] })],
}

const alarm = (metric: string, of: string) => ({ name: metric, metric, of: [of] })

const sound: Deployment = {
  now: NOW,
  region: 'eu-west-1',
  names,
  outboxTable: table('orders', {
    streamArn: STREAM,
    streamView: 'NEW_IMAGE',
    indexes: [{ name: 'pending', keys: ['shard:S', 'due:N'], includes: ['created', 'type'] }],
  }),
  relay: fn('relay', { OUTBOX_TABLE: 'orders' }),
  sweeper: fn('sweeper', { OUTBOX_TABLE: 'orders' }),
  relayMappings: [mapping()],
  sweptAt: NOW - 40_000,
  consumers: [shop],
  alarms: [
    alarm('OldestPendingMs', 'orders'),
    alarm('DeadRows', 'orders'),
    alarm('PendingRows', 'orders'),
    alarm('ApproximateNumberOfMessagesVisible', 'shop-dead.fifo'),
  ],
}

const withTable = (more: Partial<TableFacts>): Partial<Deployment> => ({
  outboxTable: { ...table('orders'), ...sound.outboxTable, ...more },
})
const withMapping = (more: Partial<MappingFacts>): Partial<Deployment> => ({ relayMappings: [mapping(more)] })
const withShop = (more: Partial<ConsumerFacts>): Partial<Deployment> => ({ consumers: [{ ...shop, ...more }] })
const withQueue = (more: Partial<QueueFacts>) => withShop({ queue: queue('shop.fifo', { redrive, ...more }) })

describe('checkDeployment', () => {
  it('finds nothing in what the constructs deploy', () => {
    expect(checkDeployment(sound)).toEqual([])
  })

  it.each<[string, Partial<Deployment>, RegExp, object | undefined]>([
    [
      'a table that is gone',
      { outboxTable: undefined, relayMappings: [] },
      /outbox table orders is not there/,
      undefined,
    ],
    ['keys of another shape', withTable({ keys: ['id:S'] }), /keys id:S instead of pk:S, sk:S/, undefined],
    [
      'TTL that is off',
      withTable({ timeToLive: undefined }),
      /deletes nothing/,
      { kind: 'time-to-live', table: 'orders', attribute: 'expires' },
    ],
    ['TTL on another attribute', withTable({ timeToLive: 'ttl' }), /expires rows by `ttl`/, undefined],
    ['no stream', { ...withTable({ streamArn: undefined }), relayMappings: [] }, /has no stream/, undefined],
    ['a stream of keys only', withTable({ streamView: 'KEYS_ONLY' }), /without new images/, undefined],
    ['no index', withTable({ indexes: [] }), /no index `pending`/, undefined],
    [
      'an index of another shape',
      withTable({ indexes: [{ name: 'pending', keys: ['shard:S'], includes: [] }] }),
      /another shape/,
      undefined,
    ],
    ['strong replicas', withTable({ stronglyConsistentReplicas: true }), /strong consistency/, undefined],
    ['no mapping', { relayMappings: [] }, /mapping of the relay is not there/, undefined],
    ['a mapping on an old stream', withMapping({ sourceArn: `${STREAM}-old` }), /reads another stream/, undefined],
    [
      'a disabled mapping',
      withMapping({ state: 'Disabled' }),
      /is disabled/,
      { kind: 'mapping', change: { Enabled: true } },
    ],
    [
      'no partial responses',
      withMapping({ reportsFailures: false }),
      /partial responses/,
      { change: { FunctionResponseTypes: ['ReportBatchItemFailures'] } },
    ],
    ['the wrong start', withMapping({ startingPosition: 'LATEST' }), /starts at LATEST/, undefined],
    ['retries without end', withMapping({ retries: -1 }), /without end/, { change: { MaximumRetryAttempts: 10 } }],
    [
      'no age limit',
      withMapping({ maxAgeSeconds: -1 }),
      /age limit/,
      { change: { MaximumRecordAgeInSeconds: 82_800 } },
    ],
    ['no bisection', withMapping({ bisects: false }), /halve/, { change: { BisectBatchOnFunctionError: true } }],
    [
      'no filter',
      withMapping({ filters: [] }),
      /no filter/,
      { change: { FilterCriteria: { Filters: [{ Pattern: expect.stringContaining('p#') }] } } },
    ],
    [
      'another filter',
      withMapping({ filters: ['{"eventName":["INSERT","MODIFY"]}'] }),
      /another filter/,
      { kind: 'mapping' },
    ],
    ['a filter that is no JSON', withMapping({ filters: ['no'] }), /another filter/, { kind: 'mapping' }],
    [
      'a filter of another Region',
      withMapping({ filters: [JSON.stringify(relayFilter('us-east-1'))] }),
      /another filter/,
      { kind: 'mapping' },
    ],
    ['a relay that is gone', { relay: undefined }, /relay \(relay\) is not there/, undefined],
    [
      'an old runtime',
      { relay: { ...fn('relay'), runtime: 'nodejs20.x' } },
      /nodejs20.x, which AWS no longer patches/,
      undefined,
    ],
    ['another table name', { sweeper: fn('sweeper', { OUTBOX_TABLE: 'other' }) }, /another OUTBOX_TABLE/, undefined],
    ['a sweeper that stands still', { sweptAt: NOW - 600_000 }, /last ran 10 minutes ago/, undefined],
    ['a sweeper that never ran', { sweptAt: undefined }, /has never run/, undefined],
    ['a queue that is gone', withShop({ queue: undefined, mappings: [] }), /queue shop.fifo is not there/, undefined],
    [
      'a dead-letter queue that is gone',
      withShop({ deadLetterQueue: undefined }),
      /dead-letter queue shop-dead.fifo is not there/,
      undefined,
    ],
    [
      'a dead-letter queue of another kind',
      withShop({ deadLetterQueue: queue('shop-dead.fifo', { fifo: false }) }),
      /is standard, and the queue of shop is FIFO/,
      undefined,
    ],
    [
      'low throughput',
      withQueue({ throughputLimit: 'perQueue' }),
      /high throughput/,
      { kind: 'queue', attributes: { DeduplicationScope: 'messageGroup', FifoThroughputLimit: 'perMessageGroupId' } },
    ],
    [
      'too short a visibility',
      withQueue({ visibilitySeconds: 20 }),
      /hides a message for 20 s/,
      { attributes: { VisibilityTimeout: '900' } },
    ],
    [
      'dead letters kept too short',
      withShop({ deadLetterQueue: queue('shop-dead.fifo', { retentionSeconds: 345_600 }) }),
      /for 4 days, less than the 14 days/,
      { url: urlOf('shop-dead.fifo'), attributes: { MessageRetentionPeriod: '1209600' } },
    ],
    [
      'few receives',
      withQueue({ redrive: { ...redrive, maxReceiveCount: 3 } }),
      /after 3 receives/,
      {
        attributes: {
          RedrivePolicy: JSON.stringify({ deadLetterTargetArn: redrive.targetArn, maxReceiveCount: 1000 }),
        },
      },
    ],
    [
      'another dead-letter queue',
      withQueue({ redrive: { ...redrive, targetArn: 'x' } }),
      /to another queue/,
      { kind: 'queue' },
    ],
    ['no redrive policy', withQueue({ redrive: undefined }), /no redrive policy/, { kind: 'queue' }],
    [
      'a forgetful ledger',
      withShop({ handler: fn('shop-handlers', { LEDGER_KEEP_DAYS: '7' }) }),
      /remembers events for 7 days, less than the 28 days/,
      undefined,
    ],
    ['a consumer without a mapping', withShop({ mappings: [] }), /mapping of consumer shop is not there/, undefined],
    ['a ledger that is gone', withShop({ ledger: undefined }), /ledger table ledger is not there/, undefined],
    [
      'no alarm on dead letters',
      { alarms: sound.alarms.slice(0, 3) },
      /alarm on ApproximateNumberOfMessagesVisible of shop-dead.fifo is not there/,
      undefined,
    ],
  ])('names %s, and mends what can be mended in place', (_, drift, wrong, fix) => {
    const findings = checkDeployment({ ...sound, ...drift })
    expect(findings.map(({ resource, wrong: what }) => `${resource} ${what}`)).toEqual([expect.stringMatching(wrong)])
    const [finding] = findings
    for (const text of [finding?.effect, finding?.property, finding?.command]) expect(text).not.toBe('')
    if (fix === undefined) expect(finding).not.toHaveProperty('fix')
    else expect(finding?.fix).toMatchObject(fix)
  })

  it('lets operators have more than is needed: longer visibility, more Regions, all attributes in the index', () => {
    const filter = relayFilter('us-east-1') as { dynamodb: { NewImage: { region: { S: string[] } } } }
    filter.dynamodb.NewImage.region.S.push('eu-west-1')
    const generous = {
      ...withTable({
        streamView: 'NEW_AND_OLD_IMAGES',
        indexes: [{ name: 'pending', keys: ['shard:S', 'due:N'], includes: ['*'] }],
      }),
      ...withMapping({ filters: [JSON.stringify(filter)], retries: 50 }),
      ...withQueue({ visibilitySeconds: 3600, redrive: { ...redrive, maxReceiveCount: 500 } }),
    }
    expect(checkDeployment({ ...sound, ...generous })).toEqual([])
  })

  it('puts errors before warnings', () => {
    const findings = checkDeployment({
      ...sound,
      ...withTable({ timeToLive: undefined }),
      ...withMapping({ state: 'Disabled' }),
      alarms: [],
    })
    const severities = findings.map(({ severity }) => severity)
    expect(severities).toEqual([...severities].sort())
    expect(severities[0]).toBe('error')
  })
})
