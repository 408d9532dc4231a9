import { describe, expect, it } from 'vitest'
import { isOutboxError } from '../../src/errors.ts'
import type { AttributeItem } from '../../src/outbox/attribute-form.ts'
import {
  checkTransaction,
  MAX_ITEM_BYTES,
  MAX_TRANSACTION_BYTES,
  ROW_RESERVE_BYTES,
  type TransactionParts,
} from '../../src/outbox/check-transaction.ts'
import type { AttributeWrite } from '../../src/outbox/client-write.ts'
import { itemSize } from '../../src/outbox/item-size.ts'
import { proves } from '../cases.ts'

function parts(given: Partial<TransactionParts>): TransactionParts {
  return { writes: [], guards: [], rows: [], tableName: 'outbox', ...given }
}

function refusal(given: Partial<TransactionParts>): string {
  try {
    checkTransaction(parts(given))
  } catch (error) {
    if (isOutboxError(error, 'INVALID_TRANSACTION')) return error.message
    throw error
  }
  return 'taken'
}

function put(item: AttributeItem, TableName = 'orders'): AttributeWrite {
  return { Put: { TableName, Item: { ...item } } }
}

function update(Key: AttributeItem, TableName = 'orders'): AttributeWrite {
  return { Update: { TableName, Key: { ...Key }, UpdateExpression: 'SET a = :a' } }
}

/** An item of exactly so many bytes: pk (2) + 8, body (4) + the rest. */
function itemOf(bytes: number, n = 0): AttributeItem {
  return { pk: { S: String(n).padStart(8, '0') }, body: { S: 'x'.repeat(bytes - 14) } }
}

describe('limits', () => {
  const writes = (count: number) => Array.from({ length: count }, (_, n) => put(itemOf(20, n)))

  it('takes 100 actions and refuses 101 with the arithmetic', proves('transaction-limits'), () => {
    const rows = [
      { pk: { S: 'a' }, sk: { S: '-' } },
      { pk: { S: 'b' }, sk: { S: '-' } },
    ]
    expect(refusal({ writes: writes(98), rows })).toBe('taken')
    expect(refusal({ writes: writes(99), rows })).toBe(
      'Not sent: 99 writes + 0 of the ledger + 2 events = 101 actions; a transaction holds at most 100. Split the work into several, each complete in itself.',
    )
    expect(refusal({ writes: writes(98), guards: [update({ pk: { S: 'g' } }, 'ledger')], rows })).toContain(
      '98 writes + 1 of the ledger + 2 events = 101 actions',
    )
  })

  it('takes an item of 400 KB and refuses one byte more', proves('transaction-limits'), () => {
    expect(refusal({ writes: [put(itemOf(MAX_ITEM_BYTES))] })).toBe('taken')
    expect(refusal({ writes: [put(itemOf(MAX_ITEM_BYTES + 1))] })).toBe(
      'Not sent: writes[0] has 409601 bytes; an item holds at most 409600. Store large data apart.',
    )
    expect(() => checkTransaction(parts({ guards: [put(itemOf(MAX_ITEM_BYTES + 1))] }))).toThrow(
      expect.objectContaining({ details: { path: 'guards[0]' } }),
    )
  })

  it('counts of an action the item or the key that it names', () => {
    const Key = itemOf(MAX_ITEM_BYTES + 1)
    const actions = [{ Update: { Key } }, { Delete: { Key } }, { ConditionCheck: { Key } }]
    for (const action of actions) expect(refusal({ writes: [action as never] })).toContain('writes[0] has 409601 bytes')
    expect(refusal({ writes: [{} as never] })).toBe('taken')
  })

  it('keeps 2 KiB of a row free', proves('transaction-limits'), () => {
    const most = MAX_ITEM_BYTES - ROW_RESERVE_BYTES
    expect(refusal({ rows: [itemOf(most)] })).toBe('taken')
    expect(refusal({ rows: [itemOf(20), itemOf(most + 1, 1)] })).toContain(
      'events[1] has 407553 bytes + 2048 kept free',
    )
  })

  it('takes 4 MB together and refuses one byte more', proves('transaction-limits'), () => {
    const ten = Array.from({ length: 10 }, (_, n) => put(itemOf(MAX_ITEM_BYTES, n)))
    const rest = MAX_TRANSACTION_BYTES - 10 * MAX_ITEM_BYTES
    expect(refusal({ writes: [...ten, put(itemOf(rest, 10))] })).toBe('taken')
    expect(refusal({ writes: [...ten, put(itemOf(rest + 1, 10))] })).toBe(
      'Not sent: the items have 4194305 bytes together; a transaction holds at most 4194304.',
    )
  })
})

describe('itemSize', () => {
  it('counts UTF-8 bytes, numbers by digits, and the overhead of documents', () => {
    const sizes: [AttributeItem, number][] = [
      [{ ä: { S: '😀' } }, 2 + 4],
      [{ n: { N: '0' } }, 1 + 1],
      [{ n: { N: '-1234.500' } }, 1 + 4 + 1],
      [{ n: { N: '12e30' } }, 1 + 2],
      [{ n: { N: '12E-30' } }, 1 + 2],
      [{ n: { N: '0000123' } }, 1 + 3],
      [{ n: { N: '123000' } }, 1 + 3],
      [{ n: { N: '1002003' } }, 1 + 5],
      [{ n: { N: '0.00012' } }, 1 + 2],
      [{ b: { B: new Uint8Array(5) } }, 1 + 5],
      [{ t: { BOOL: true }, z: { NULL: true } }, 2 + 2],
      [{ s: { SS: ['ab', 'c'] }, m: { NS: ['1', '22'] }, y: { BS: [new Uint8Array(3)] } }, 3 + 3 + 4 + 3],
      [{ l: { L: [{ S: 'ab' }, { NULL: true }] } }, 1 + 3 + 2 + 2 + 1],
      [{ m: { M: { a: { S: 'bc' } } } }, 1 + 3 + 1 + 1 + 2],
    ]
    for (const [item, size] of sizes) expect([item, itemSize(item)]).toEqual([item, size])
  })
})

describe('two actions on one item', () => {
  const key = { pk: { S: 'a' }, sk: { N: '1' } }

  it.each<[string, Partial<TransactionParts>]>([
    [
      'two keys',
      { writes: [update(key), { ConditionCheck: { TableName: 'orders', Key: key, ConditionExpression: 'x' } }] },
    ],
    ['a key in another order of members', { writes: [update(key), update({ sk: key.sk, pk: key.pk })] }],
    ['a number written otherwise', { writes: [update(key), update({ ...key, sk: { N: '1.0' } })] }],
    ['a put and a key', { writes: [put({ ...key, total: { N: '5' } }), update(key)] }],
    [
      'two puts, told by the key of a third',
      { writes: [put({ ...key, a: { S: '1' } }), put({ ...key, a: { S: '2' } }), update({ ...key, pk: { S: 'b' } })] },
    ],
    ['two equal puts', { writes: [put({ ...key, a: { S: '1' } }), put({ ...key, a: { S: '1' } })] }],
    [
      'a table by name and by ARN',
      { writes: [update(key), update(key, 'arn:aws:dynamodb:eu-central-1:1:table/orders')] },
    ],
    [
      'a write on an outbox row',
      {
        writes: [update({ pk: { S: 'K#s/k' }, sk: { S: '-' } }, 'outbox')],
        rows: [{ pk: { S: 'K#s/k' }, sk: { S: '-' }, v: { N: '1' } }],
      },
    ],
  ])('refuses %s', proves('two-actions-one-item'), (_, given) => {
    expect(refusal(given)).toMatch(
      /^Not sent: actions \d and \d are on one item\. DynamoDB takes one action an item: join them into one\.$/,
    )
  })

  it.each<[string, Partial<TransactionParts>]>([
    ['two puts whose keys are not known', { writes: [put({ ...key, a: { S: '1' } }), put({ ...key, a: { S: '2' } })] }],
    ['text and number', { writes: [update(key), update({ ...key, sk: { S: '1' } })] }],
    [
      'large numbers that a double cannot tell apart',
      { writes: [update({ n: { N: '9007199254740993' } }), update({ n: { N: '9007199254740992' } })] },
    ],
    ['one key in two tables', { writes: [update(key), update(key, 'invoices')] }],
  ])('never refuses what DynamoDB may take: %s', (_, given) => {
    expect(refusal(given)).toBe('taken')
  })

  it('names the two by their places among all actions', () => {
    const rows = [{ pk: { S: 'K#s/k' }, sk: { S: '-' } }]
    const guard = update({ pk: { S: 'K#s/k' }, sk: { S: '-' } }, 'outbox')
    expect(refusal({ writes: [update(key)], guards: [guard], rows })).toContain('actions 1 and 2 ')
    expect(refusal({ writes: [put(itemOf(20)), update(key), update(key, 'invoices'), update(key)] })).toContain(
      'actions 1 and 3 ',
    )
  })

  it('tells keys of bytes apart, and sees equal ones', () => {
    const bytes = (...values: number[]) => update({ pk: { B: new Uint8Array(values) } })
    expect(refusal({ writes: [bytes(1, 2), bytes(1, 3)] })).toBe('taken')
    expect(refusal({ writes: [bytes(1, 2), bytes(1, 2)] })).toContain('one item')
  })

  it('shows no key', () => {
    expect(refusal({ writes: [update({ pk: { S: 'secret' } }), update({ pk: { S: 'secret' } })] })).not.toContain(
      'secret',
    )
  })
})
