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
    expect(refusal(native, 'client')).toContain('writes[3].Put must hold AttributeValues')
    expect(refusal(attributes, 'documentClient')).toContain('writes[3].Put must hold native values')
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

  it.each([
    ['nothing', undefined],
    ['no action', {}],
    ['two actions', { ...native, Delete: { TableName, Key: { pk: 'a' } } }],
    ['another action', { Get: { TableName, Key: { pk: 'a' } } }],
    ['no table', { Put: { Item: { pk: 'a' } } }],
    ['no item', { Put: { TableName } }],
  ])('refuses %s', (_, write) => {
    expect(refusal(write, 'documentClient')).toContain('Not sent: writes[3]')
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
