import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { checkForm } from '../../src/outbox/check-form.ts'
import type { ClientKind, ClientWrite } from '../../src/outbox/client-write.ts'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { proves } from '../cases.ts'

const TableName = 'orders'
const native: ClientWrite = { Put: { TableName, Item: { pk: 'a', n: { S: 'a map' }, list: [1] } } }
const attributes: ClientWrite = { Put: { TableName, Item: { pk: { S: 'a' }, n: { N: '1' } } } }

function refusal(write: unknown, kind: ClientKind): string {
  try {
    checkForm(write as ClientWrite, 3, kind)
    return 'taken'
  } catch (error) {
    return (error as Error).message
  }
}

describe('checkForm', () => {
  it('takes each form through its own client', proves('item-forms'), () => {
    expect(refusal(native, 'documentClient')).toBe('taken')
    expect(refusal(attributes, 'client')).toBe('taken')
  })

  it('refuses each form through the other client', proves('item-forms'), () => {
    expect(refusal(native, 'client')).toBe(
      'Not sent: writes[3].Put must hold AttributeValues such as { S: "text" }, for the outbox was created with `client`.',
    )
    expect(refusal(attributes, 'documentClient')).toBe(
      'Not sent: writes[3].Put must hold native values, not AttributeValues, for the outbox was created with `documentClient`.',
    )
  })

  it('refuses a key in the other form', proves('item-forms'), () => {
    const update = { TableName, UpdateExpression: 'SET a = :a' }
    expect(refusal({ Update: { ...update, Key: { pk: 'a' } } }, 'client')).toContain('writes[3].Update')
    expect(refusal({ Delete: { TableName, Key: { pk: { S: 'a' } } } }, 'documentClient')).toContain('writes[3].Delete')
  })

  it('refuses expression values in the other form', proves('item-forms'), () => {
    const update = { TableName, Key: { pk: { S: 'a' } }, UpdateExpression: 'SET a = :a' }
    expect(refusal({ Update: { ...update, ExpressionAttributeValues: { ':a': 1 } } }, 'client')).toContain(
      'AttributeValues',
    )
  })

  const ONE = 'writes[3] must be one of Put, Update, Delete, ConditionCheck, and only one'
  it.each([
    ['nothing', undefined, ONE],
    ['no action', {}, ONE],
    ['an action that is undefined', { Put: undefined }, ONE],
    ['two actions', { ...native, Delete: { TableName, Key: { pk: 'a' } } }, ONE],
    ['another action', { Get: { TableName, Key: { pk: 'a' } } }, ONE],
    ['no table', { Put: { Item: { pk: 'a' } } }, 'writes[3].Put must have a TableName'],
    ['an action of null', { Put: null }, 'writes[3].Put must have a TableName'],
    ['no item', { Put: { TableName } }, 'writes[3].Put must have an Item'],
    ['an item of null', { Put: { TableName, Item: null } }, 'writes[3].Put must have an Item'],
    ['no key', { Update: { TableName, Item: { pk: 'a' } } }, 'writes[3].Update must have a Key'],
    ['a key of text', { Delete: { TableName, Key: 'a' } }, 'writes[3].Delete must have a Key'],
  ])('refuses %s', (_, write, says) => {
    expect(refusal(write, 'documentClient')).toBe(`Not sent: ${says}.`)
  })

  it('takes one action beside others that are undefined', () => {
    expect(refusal({ Delete: undefined, ...native }, 'documentClient')).toBe('taken')
    const check = { TableName, Key: { pk: 'a' }, ConditionExpression: 'x' }
    expect(refusal({ ConditionCheck: check }, 'documentClient')).toBe('taken')
  })

  it('tells the place of what it refuses', () => {
    expect(() => checkForm({ Get: {} } as never, 3, 'client')).toThrow(
      expect.objectContaining({ code: 'INVALID_TRANSACTION', details: { path: 'writes[3]' } }),
    )
  })
})

describe('the types', () => {
  it('let no form through the other client', proves('item-forms'), () => {
    const client = createOutbox({ client: new DynamoDBClient({}), tableName: 't' })
    const documentClient = createOutbox({
      documentClient: DynamoDBDocumentClient.from(new DynamoDBClient({})),
      tableName: 't',
    })
    type ClientWrites = Parameters<typeof client.transact>[0]['writes']
    type DocumentWrites = Parameters<typeof documentClient.transact>[0]['writes']
    expectTypeOf<[{ Put: { TableName: string; Item: { id: { S: string } } } }]>().toExtend<ClientWrites>()
    expectTypeOf<[{ Put: { TableName: string; Item: { id: string } } }]>().not.toExtend<ClientWrites>()
    expectTypeOf<[{ Put: { TableName: string; Item: { id: string } } }]>().toExtend<DocumentWrites>()
    expect([client.kind, documentClient.kind]).toEqual(['client', 'documentClient'])
  })
})
