import { describe, expect, it } from 'vitest'
import { createEventBridgePublisher } from '../../src/relay/event-bridge-publisher.ts'
import type { OutgoingMessage } from '../../src/relay/publisher.ts'
import { createManualClock } from '../../src/testing/manual-clock.ts'
import { proves } from '../cases.ts'
import { createFakeEventBridge, type Fault } from '../support/fake-event-bridge.ts'

const message = (n: number, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  deduplicationId: `d${n}`,
  groupId: `g${n}`,
  body: `{"n":${n}}`,
  source: 'shop',
  type: 'order.placed',
  ...more,
})

function given() {
  const bridge = createFakeEventBridge('orders')
  const clock = createManualClock()
  const publisher = createEventBridgePublisher({ client: bridge.client, busName: 'orders', clock })
  const actions = () => bridge.requests.map(({ action }) => action)
  return { bridge, clock, publisher, actions }
}

describe('createEventBridgePublisher', () => {
  it('sends the source, the type, and the body verbatim', async () => {
    const { bridge, publisher } = given()
    expect(await publisher.publish([message(1), message(2, { body: '{"é":  1.50}' })])).toEqual([
      { status: 'accepted' },
      { status: 'accepted' },
    ])
    expect(bridge.requests[1]?.entries).toEqual([
      { EventBusName: 'orders', Source: 'shop', DetailType: 'order.placed', Detail: '{"n":1}' },
      { EventBusName: 'orders', Source: 'shop', DetailType: 'order.placed', Detail: '{"é":  1.50}' },
    ])
  })

  it('takes an ARN, and is named after the bus unless it has a name of its own', async () => {
    const { client, buses, delivered, requests } = createFakeEventBridge('orders')
    const busName = 'arn:aws:events:eu-west-1:123456789012:event-bus/orders'
    const publisher = createEventBridgePublisher({ client, busName })
    expect(publisher).toMatchObject({ name: 'orders', maxEntries: 10, maxBytes: 1_048_575 })
    expect(createEventBridgePublisher({ client, busName, name: 'audit' }).name).toBe('audit')
    await publisher.publish([message(1)])
    expect(requests.at(-1)?.entries[0]?.EventBusName).toBe(busName)
    expect([buses.size, delivered.length]).toEqual([1, 1])
  })

  it('counts source, type and body in UTF-8 bytes', proves('request-limits'), () => {
    const { publisher } = given()
    expect(publisher.sizeOf(message(0, { body: '"aé€😀"' }))).toBe(4 + 12 + 12)
  })

  it('refuses unknown options, another client, no bus, and a name that is too long', () => {
    const { client } = createFakeEventBridge()
    expect(() => createEventBridgePublisher({ client, busName: 'b', rule: 'r' } as never)).toThrow('"rule"')
    expect(() => createEventBridgePublisher({ client, busName: '' })).toThrow('busName must be')
    const sqs = { send: async () => {}, config: { serviceId: 'SQS' } } as never
    expect(() => createEventBridgePublisher({ client: sqs, busName: 'b' })).toThrow('must be a client of EventBridge')
    expect(() => createEventBridgePublisher({ client, busName: 'b', name: 'n'.repeat(65) })).toThrow('1 to 64')
  })
})

describe('a row of another program', () => {
  const foreign = (body: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
    deduplicationId: 'd',
    groupId: 'g',
    body,
    ...more,
  })

  it('is sent with source and type of its body, if that is a CloudEvent', async () => {
    const { bridge, publisher } = given()
    const body = JSON.stringify({ specversion: '1.0', id: '1', source: 'https://crm/x', type: 'lead', data: {} })
    expect(
      await publisher.publish([foreign(body), foreign(body, { type: 'own' }), foreign(body, { type: '' })]),
    ).toEqual(Array(3).fill({ status: 'accepted' }))
    expect(bridge.delivered).toMatchObject([
      { source: 'https://crm/x', 'detail-type': 'lead' },
      { source: 'https://crm/x', 'detail-type': 'own' },
      { source: 'https://crm/x', 'detail-type': 'lead' },
    ])
    expect(publisher.sizeOf(foreign(body))).toBe(body.length + 'https://crm/x'.length + 'lead'.length)
  })

  it('is refused without them, and the others of its request are sent', proves('refused-for-content'), async () => {
    const { bridge, publisher } = given()
    const outcomes = await publisher.publish([message(1), foreign('{}'), foreign('text'), message(2)])
    expect(outcomes.map(({ status }) => status)).toEqual(['accepted', 'refused', 'refused', 'accepted'])
    expect(bridge.delivered.map(({ detail }) => detail)).toEqual([{ n: 1 }, { n: 2 }])
    expect(await publisher.publish([foreign('{}'), message(1, { type: '', body: '{}' })])).toEqual(
      Array(2).fill({
        status: 'refused',
        reason: expect.stringContaining('takes only events with a source and a type'),
      }),
    )
  })
})

describe('the answer of a request', () => {
  it('is read entry by entry: one without an id or a code was not sent', proves('entry-refused-in-200'), async () => {
    const { bridge, publisher } = given()
    bridge.refuseEntry = ({ Detail }) => (Detail === '{"n":2}' ? { code: 'ThrottlingException' } : undefined)
    const outcomes = await publisher.publish([message(1), message(2), message(3)])
    expect(outcomes).toEqual([
      { status: 'accepted' },
      { status: 'failed', reason: 'ThrottlingException' },
      { status: 'accepted' },
    ])
    const cut = createEventBridgePublisher({
      client: { send: async () => ({ FailedEntryCount: 0, Entries: [{ EventId: 'a' }, {}] }) } as never,
      busName: 'orders',
    })
    const three = await cut.publish([message(1), message(2), message(3)])
    expect(three.map(({ status }) => status)).toEqual(['accepted', 'failed', 'failed'])
  })

  it.each<[string, string, string]>([
    ['MalformedDetail', 'Detail is malformed.', 'refused'],
    ['MalformedDetail', '', 'refused'],
    ['InvalidArgument', 'Parameter DetailType is not valid. Reason: too long.', 'refused'],
    ['InvalidArgument', 'Parameter Source is not valid.', 'refused'],
    ['InvalidArgument', 'Parameter EventBusName is not valid.', 'failed'],
    ['InvalidArgument', '', 'failed'],
    ['AccessDeniedException', 'no', 'failed'],
    ['NotAuthorizedForSourceException', 'no', 'failed'],
    ['NotAuthorizedForDetailTypeException', 'no', 'failed'],
    ['InvalidAccountIdException', 'no', 'failed'],
    ['RedactionFailure', 'no', 'failed'],
    ['InternalFailure', 'again', 'failed'],
    ['ThrottlingException', 'slow', 'failed'],
    ['SomethingNew', 'Parameter Detail', 'failed'],
  ])('an entry with %s (%s) is %s', proves('outage-of-permission'), async (code, text, status) => {
    const { bridge, publisher } = given()
    bridge.refuseEntry = () => ({ code, message: text })
    expect(await publisher.publish([message(1)])).toMatchObject([{ status }])
  })

  it.each<[string, string]>([
    ['text', 'no JSON'],
    ['[1]', 'no object'],
    ['{"n":9223372036854775808}', 'an integer beyond 64 bits'],
    [`{"n":${'['.repeat(1000)}${']'.repeat(1000)}}`, 'over 1,000 levels'],
  ])('a body that EventBridge cannot read is refused: %s', proves('refused-for-content'), async (body) => {
    const { publisher } = given()
    expect(await publisher.publish([message(1, { body }), message(2)])).toEqual([
      { status: 'refused', reason: 'MalformedDetail' },
      { status: 'accepted' },
    ])
  })

  it('a source of AWS itself is an outage: the row waits until its route is mended', async () => {
    const { publisher } = given()
    expect(await publisher.publish([message(1, { source: 'aws.shop' })])).toEqual([
      { status: 'failed', reason: 'NotAuthorizedForSourceException' },
    ])
  })

  it.each<[Fault, string]>([
    [{ code: 'InternalException', status: 500 }, 'InternalException'],
    [{ code: 'AccessDeniedException' }, 'AccessDeniedException'],
    [{ code: 'ThrottlingException' }, 'ThrottlingException'],
    [{ code: 'ValidationException', message: "Value 'x' at 'entries.1.member.eventBusName'" }, 'ValidationException'],
  ])('%j of a whole request is an outage of all its entries', proves('outage-of-permission'), async (fault, reason) => {
    const { bridge, publisher } = given()
    bridge.failRequest = (action) => (action === 'PutEvents' ? fault : undefined)
    const outcomes = await publisher.publish([message(1), message(2)])
    expect(outcomes).toEqual(Array(2).fill({ status: 'failed', reason }))
  })

  it(
    'a request that is too large is sent entry by entry, and only the one that is too large alone is refused',
    proves('refused-for-content', 'request-limits'),
    async () => {
      const { bridge, publisher, actions } = given()
      const huge = message(2, { body: `{"t":"${'x'.repeat(1_048_576)}"}` })
      const outcomes = await publisher.publish([message(1), huge, message(3)])
      expect(outcomes.map(({ status }) => status)).toEqual(['accepted', 'refused', 'accepted'])
      expect(actions()).toEqual(['DescribeEventBus', ...Array(4).fill('PutEvents')])
      expect(bridge.delivered).toHaveLength(2)
    },
  )

  it(
    'a field that the service itself finds too long refuses its own entry only',
    proves('refused-for-content'),
    async () => {
      const { bridge, publisher } = given()
      const tooLong = "1 validation error detected: Value at 'entries.1.member.detailType' failed to satisfy constraint"
      bridge.failRequest = () => {
        const long = bridge.requests.at(-1)?.entries.some(({ DetailType = '' }) => DetailType.length > 128)
        return long ? { code: 'ValidationException', message: tooLong } : undefined
      }
      const outcomes = await publisher.publish([message(1), message(2, { type: 't'.repeat(129) }), message(3)])
      expect(outcomes.map(({ status }) => status)).toEqual(['accepted', 'refused', 'accepted'])
    },
  )

  it.each<[Fault, string]>([
    [
      {
        code: 'ValidationException',
        message:
          "1 validation error detected: Value 'secret' at 'entries.1.member.source' failed to satisfy constraint",
      },
      'ValidationException: entries.1.member.source',
    ],
    [
      { code: 'InvalidArgument', message: "Parameter Source is not valid. Reason: 'secret' is too long." },
      'InvalidArgument: Parameter Source',
    ],
  ])('a reason names the field and never the value that EventBridge quotes: %j', async (fault, reason) => {
    const { bridge, publisher } = given()
    if (fault.code === 'InvalidArgument') bridge.refuseEntry = () => fault
    else bridge.failRequest = (action) => (action === 'PutEvents' ? fault : undefined)
    expect(await publisher.publish([message(1)])).toEqual([{ status: 'refused', reason }])
  })

  it('an older limit of 256 KB is met too: entries that do not fit together go alone', async () => {
    const { bridge, publisher } = given()
    const tooLong = {
      code: 'ValidationException',
      message: 'Total size of the entries in the request is over the limit.',
    }
    bridge.failRequest = () => {
      const bytes = bridge.requests.at(-1)?.entries.reduce((sum, { Detail = '' }) => sum + Detail.length, 0) ?? 0
      return bytes > 262_144 ? tooLong : undefined
    }
    const large = (n: number, size: number) => message(n, { body: `{"t":"${'x'.repeat(size)}"}` })
    const outcomes = await publisher.publish([large(1, 200_000), large(2, 200_000), large(3, 300_000)])
    expect(outcomes.map(({ status }) => status)).toEqual(['accepted', 'accepted', 'refused'])
  })

  it('HTTP 413, whoever answers it, is the size of the entry', async () => {
    const { bridge, publisher } = given()
    bridge.failRequest = (action) => (action === 'PutEvents' ? { code: 'Unknown', status: 413 } : undefined)
    expect(await publisher.publish([message(1)])).toMatchObject([{ status: 'refused' }])
  })

  it('that never comes is a failure to send', async () => {
    const { publisher } = given()
    expect(await publisher.publish([message(1)], AbortSignal.abort())).toMatchObject([{ status: 'failed' }])
  })
})

describe('a bus that does not exist', () => {
  it('gets nothing: EventBridge would answer 200 and drop it', proves('outage-of-permission'), async () => {
    const { bridge, publisher, actions } = given()
    bridge.buses.clear()
    expect(await publisher.publish([message(1), message(2)])).toEqual(
      Array(2).fill({ status: 'failed', reason: 'the bus cannot be seen: ResourceNotFoundException' }),
    )
    expect(actions()).toEqual(['DescribeEventBus'])
  })

  it('is found at once when it is created', async () => {
    const { bridge, publisher } = given()
    bridge.buses.clear()
    await publisher.publish([message(1)])
    bridge.buses.add('orders')
    expect(await publisher.publish([message(1)])).toEqual([{ status: 'accepted' }])
    expect(bridge.delivered).toHaveLength(1)
  })

  it('is noticed within a minute of the clock after it was deleted', async () => {
    const { bridge, publisher, clock, actions } = given()
    await publisher.publish([message(1)])
    await clock.advance(59_999)
    await publisher.publish([message(2)])
    expect(actions()).toEqual(['DescribeEventBus', 'PutEvents', 'PutEvents'])
    bridge.buses.clear()
    await clock.advance(1)
    expect(await publisher.publish([message(3)])).toMatchObject([{ status: 'failed' }])
    expect(bridge.delivered).toHaveLength(2)
  })

  it('is not taken for one when the look is not allowed or does not answer: nothing is sent unseen', async () => {
    const { bridge, publisher, actions } = given()
    bridge.failRequest = () => ({ code: 'AccessDeniedException' })
    expect(await publisher.publish([message(1)])).toEqual([
      { status: 'failed', reason: 'the bus cannot be seen: AccessDeniedException' },
    ])
    expect(actions()).toEqual(['DescribeEventBus'])
  })

  it('is looked at once by requests that begin together', async () => {
    const { bridge, publisher, actions } = given()
    const outcomes = await Promise.all([1, 2, 3].map((n) => publisher.publish([message(n)])))
    expect(outcomes.flat()).toEqual(Array(3).fill({ status: 'accepted' }))
    expect(actions()).toEqual(['DescribeEventBus', ...Array(3).fill('PutEvents')])
    expect(bridge.delivered).toHaveLength(3)
  })
})
