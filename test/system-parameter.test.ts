import { describe, expect, it } from 'vitest'
import { readSystems } from '../src/system-parameter.ts'

const outbox = (outboxTable: string) =>
  JSON.stringify({ kind: 'outbox', outboxTable, relay: `${outboxTable}-relay`, sweeper: `${outboxTable}-sweeper` })
const consumer = (name: string, outboxTable?: string) =>
  JSON.stringify({
    kind: 'consumer',
    name,
    ledgerTable: `${name}-ledger`,
    queueUrl: `https://sqs/1/${name}.fifo`,
    deadLetterQueueUrl: `https://sqs/1/${name}-dead.fifo`,
    handler: `${name}-handlers`,
    outboxTable,
  })
const parameter = (name: string, value: string) => ({ name: `/dynamodb-outbox/${name}`, value })

describe('readSystems', () => {
  it('puts each outbox together with the consumers that emit into it, and those of its stack that emit nothing', () => {
    const systems = readSystems([
      parameter('Shop/Outbox', outbox('orders')),
      parameter('Shop/Outbox/Orders', consumer('shop', 'orders')),
      parameter('Shop/Shipping', consumer('shipping')),
      parameter('Billing/Outbox', outbox('bills')),
      parameter('Elsewhere/Invoices', consumer('invoices', 'bills')),
      parameter('Elsewhere/Other', consumer('other')),
    ])
    expect(systems.map(({ name, consumers }) => [name, consumers.map((one) => one.name)])).toEqual([
      ['Shop/Outbox', ['shop', 'shipping']],
      ['Billing/Outbox', ['invoices']],
    ])
    expect(systems[0]).toMatchObject({ outboxTable: 'orders', relay: 'orders-relay', sweeper: 'orders-sweeper' })
    expect(systems[1]?.consumers).toEqual([
      {
        name: 'invoices',
        ledgerTable: 'invoices-ledger',
        queueUrl: 'https://sqs/1/invoices.fifo',
        deadLetterQueueUrl: 'https://sqs/1/invoices-dead.fifo',
        handler: 'invoices-handlers',
      },
    ])
  })

  it.each(['', 'not json', 'null', '[]', '{"kind":"outbox"}', '{"kind":"consumer","name":7}', '{"kind":"other"}'])(
    'leaves out a value that it cannot read: %s',
    (value) => {
      expect(readSystems([parameter('A/Outbox', value), parameter('B/Outbox', outbox('b'))])).toMatchObject([
        { name: 'B/Outbox', outboxTable: 'b', consumers: [] },
      ])
    },
  )
})
