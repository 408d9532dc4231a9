import { describe, expect, it } from 'vitest'
import {
  type ConsumerSettings,
  consumerEnvironment,
  type RelaySettings,
  readConsumerSettings,
  readRelaySettings,
  relayEnvironment,
} from '../src/settings.ts'

const RELAY: RelaySettings = {
  tableName: 'outbox',
  routes: [
    { source: 'shop', type: ['a', 'b'], to: [{ kind: 'sqs', name: 'orders.fifo', url: 'https://sqs/1/orders.fifo' }] },
    { to: [{ kind: 'event-bus', name: 'bus', bus: 'arn:aws:events:eu-west-1:123456789012:event-bus/orders' }] },
  ],
}
const CONSUMER: ConsumerSettings = {
  ledgerTable: 'ledger',
  queueUrl: 'https://sqs/1/q.fifo',
  deadLetterQueueUrl: 'https://sqs/1/dlq.fifo',
}

describe('settings of relay and sweeper', () => {
  it('are read as they were written', () => {
    expect(readRelaySettings(relayEnvironment(RELAY))).toEqual(RELAY)
    const all = { ...RELAY, takeOverRegions: ['eu-west-1'], keepRelayedSeconds: 86_400 }
    expect(relayEnvironment(all)).toEqual({
      OUTBOX_TABLE: 'outbox',
      OUTBOX_ROUTES: JSON.stringify(RELAY.routes),
      OUTBOX_TAKE_OVER_REGIONS: '["eu-west-1"]',
      OUTBOX_KEEP_RELAYED_SECONDS: '86400',
    })
    expect(readRelaySettings(relayEnvironment(all))).toEqual(all)
  })

  const routes = (value: unknown) => ({ OUTBOX_ROUTES: JSON.stringify(value) })
  const to = (target: unknown) => routes([{ to: [target] }])
  it.each([
    [{ OUTBOX_TABLE: '' }, 'OUTBOX_TABLE is not set'],
    [{ OUTBOX_ROUTES: undefined }, 'OUTBOX_ROUTES must be a JSON list of routes'],
    [{ OUTBOX_ROUTES: '[{"to":' }, 'OUTBOX_ROUTES must be JSON text; got 7 characters'],
    [routes([]), 'OUTBOX_ROUTES must be a JSON list'],
    [routes(['orders']), 'OUTBOX_ROUTES[0] must be a JSON object'],
    [routes([...RELAY.routes, { to: [] }]), 'OUTBOX_ROUTES[2].to must be a list of targets'],
    [routes([{ ...RELAY.routes[0], group: 'g' }]), 'OUTBOX_ROUTES[0]: "group" is not an option'],
    [routes([{ ...RELAY.routes[0], source: [''] }]), 'OUTBOX_ROUTES[0].source must be text'],
    [routes([{ ...RELAY.routes[0], type: 7 }]), 'OUTBOX_ROUTES[0].type must be text'],
    [to({ kind: 'sns', name: 'n' }), 'OUTBOX_ROUTES[0].to[0].kind must be "sqs" or "event-bus"'],
    [to({ kind: 'sqs', name: 'n' }), 'OUTBOX_ROUTES[0].to[0].url must be text'],
    [to({ kind: 'event-bus', name: 'n', url: 'u' }), 'OUTBOX_ROUTES[0].to[0]: "url" is not an option'],
    [{ OUTBOX_TAKE_OVER_REGIONS: 'eu-west-1' }, 'OUTBOX_TAKE_OVER_REGIONS must be JSON text'],
    [{ OUTBOX_TAKE_OVER_REGIONS: '[]' }, 'OUTBOX_TAKE_OVER_REGIONS must be text'],
    [{ OUTBOX_KEEP_RELAYED_SECONDS: '7 days' }, 'OUTBOX_KEEP_RELAYED_SECONDS must be a whole number'],
  ])('that are wrong are named by their variable: %j', (wrong, message) => {
    const read = () => readRelaySettings({ ...relayEnvironment(RELAY), ...wrong })
    expect(read).toThrow(
      expect.objectContaining({ code: 'INVALID_SETTING', message: expect.stringContaining(message) }),
    )
  })
})

describe('settings of a consumer', () => {
  it('are read as they were written', () => {
    expect(readConsumerSettings(consumerEnvironment(CONSUMER))).toEqual(CONSUMER)
    const all = { ...CONSUMER, ledgerKeepDays: 60, outboxTable: 'outbox' }
    expect(consumerEnvironment(all)).toEqual({
      LEDGER_TABLE: 'ledger',
      QUEUE_URL: 'https://sqs/1/q.fifo',
      DEAD_LETTER_QUEUE_URL: 'https://sqs/1/dlq.fifo',
      LEDGER_KEEP_DAYS: '60',
      OUTBOX_TABLE: 'outbox',
    })
    expect(readConsumerSettings(consumerEnvironment(all))).toEqual(all)
  })

  it.each(['LEDGER_TABLE', 'QUEUE_URL', 'DEAD_LETTER_QUEUE_URL'])('that lack %s are refused', (variable) => {
    expect(() => readConsumerSettings({ ...consumerEnvironment(CONSUMER), [variable]: undefined })).toThrow(
      `${variable} is not set`,
    )
  })
})
