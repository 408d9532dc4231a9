import { describe, expect, it } from 'vitest'
import { isAttributeItem, marshalAction, plainItem } from '../../src/outbox/attribute-form.ts'

const rest = { TableName: 't', ConditionExpression: 'a = :a', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }
const values = { ExpressionAttributeValues: { ':a': 1, ':b': true, ':c': new Set(['x']) } }
const marshalled = { ExpressionAttributeValues: { ':a': { N: '1' }, ':b': { BOOL: true }, ':c': { SS: ['x'] } } }

describe('marshalAction', () => {
  it('puts every kind of action into DynamoDB’s own form', () => {
    const [Key, KeyForm] = [{ pk: 'a' }, { pk: { S: 'a' } }]
    expect(marshalAction({ Put: { ...rest, ...values, Item: Key } })).toEqual({
      Put: { ...rest, ...marshalled, Item: KeyForm },
    })
    expect(marshalAction({ Delete: { ...rest, Key } })).toEqual({ Delete: { ...rest, Key: KeyForm } })
    expect(marshalAction({ ConditionCheck: { ...rest, ...values, Key } })).toEqual({
      ConditionCheck: { ...rest, ...marshalled, Key: KeyForm },
    })
    const UpdateExpression = 'SET a = :a'
    expect(marshalAction({ Update: { ...rest, UpdateExpression, Key } })).toEqual({
      Update: { ...rest, UpdateExpression, Key: KeyForm },
    })
  })
})

describe('plainItem', () => {
  it('reads an item in either form', () => {
    const item = {
      s: { S: 'a' },
      n: { N: '1.5' },
      b: { BOOL: false },
      z: { NULL: true },
      ss: { SS: ['x'] },
      ns: { NS: ['1'] },
      bs: { BS: [new Uint8Array([1])] },
      by: { B: new Uint8Array([2]) },
      l: { L: [{ S: 'y' }] },
      m: { M: { k: { N: '2' } } },
    }
    const plain = {
      s: 'a',
      n: 1.5,
      b: false,
      z: null,
      ss: new Set(['x']),
      ns: new Set([1]),
      bs: new Set([new Uint8Array([1])]),
      by: new Uint8Array([2]),
      l: ['y'],
      m: { k: 2 },
    }
    expect(plainItem(item)).toEqual(plain)
    expect(plainItem(plain)).toEqual(plain)
  })
})

describe('isAttributeItem', () => {
  it.each([
    [{ a: { S: 'x' }, b: { N: '1' } }, true],
    [{ a: { S: 'x', N: undefined } }, true],
    [{ a: { B: new Uint8Array(1), BOOL: undefined }, b: { BOOL: false }, c: { NULL: true } }, true],
    [{ a: { SS: ['x'] }, b: { NS: ['1'] }, c: { BS: [new Uint8Array(1)] } }, true],
    [{ a: { L: [{ S: 'x' }, { M: { b: { L: [] } } }] } }, true],
    [{}, true],
    [{ a: { N: 1 } }, false],
    [{ a: { B: 'x' } }, false],
    [{ a: { BOOL: 'true' } }, false],
    [{ a: { NULL: 1 } }, false],
    [{ a: { SS: 'x' } }, false],
    [{ a: { SS: ['x', 1] } }, false],
    [{ a: { NS: [1] } }, false],
    [{ a: { BS: ['x'] } }, false],
    [{ a: { L: [{ S: 'x' }, 'y'] } }, false],
    [{ a: { L: { S: 'x' } } }, false],
    [{ a: { M: { b: 'x' } } }, false],
    [{ a: { M: null } }, false],
    [{ a: {} }, false],
    [{ a: { S: 1 } }, false],
    [{ a: { X: 'x' } }, false],
    [{ a: { S: 'x', N: '1' } }, false],
    [{ a: 'x' }, false],
    [{ a: null }, false],
    [undefined, false],
  ])('%j: %s', (item, expected) => {
    expect(isAttributeItem(item)).toBe(expected)
  })

  it('looks deeper than DynamoDB takes, and ends where a value holds itself', () => {
    let value: object = { S: 'x' }
    for (let level = 0; level < 40; level++) value = { L: [value] }
    expect(isAttributeItem({ a: value })).toBe(true)
    expect(isAttributeItem({ a: { M: { b: value } } })).toBe(false)
    const cycle = { L: [] as unknown[] }
    cycle.L.push(cycle)
    expect(isAttributeItem({ a: cycle })).toBe(false)
  })
})
