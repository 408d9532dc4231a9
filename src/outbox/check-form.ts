import { OutboxError } from '../errors.ts'
import { isAttributeItem } from './attribute-form.ts'
import type { ClientKind, ClientWrite } from './client-write.ts'

const ACTIONS = ['Put', 'Update', 'Delete', 'ConditionCheck'] as const

/**
 * Refuses (`INVALID_TRANSACTION`) a write that is not exactly one action, or whose values are in the other client's form:
 * AttributeValues through a document client would be stored as maps without a word.
 */
export function checkForm(write: ClientWrite, index: number, kind: ClientKind): void {
  const path = `writes[${index}]`
  const names = Object.entries(write ?? {}).filter(([, body]) => body !== undefined)
  const name = ACTIONS.find((action) => names[0]?.[0] === action)
  if (names.length !== 1 || name === undefined) throw wrong(path, `must be one of ${ACTIONS.join(', ')}, and only one`)
  const body: Record<string, unknown> = { ...write[name] }
  const main = name === 'Put' ? 'Item' : 'Key'
  if (typeof body.TableName !== 'string') throw wrong(`${path}.${name}`, 'must have a TableName')
  if (typeof body[main] !== 'object' || body[main] === null)
    throw wrong(`${path}.${name}`, `must have ${article(main)}`)
  const values = body.ExpressionAttributeValues ?? {}
  if (kind === 'client' && !(isAttributeItem(body[main]) && isAttributeItem(values))) {
    throw wrong(
      `${path}.${name}`,
      'must hold AttributeValues such as { S: "text" }, for the outbox was created with `client`',
    )
  }
  // An item always has a key of text, number or bytes: natively, it cannot consist of maps alone.
  if (kind === 'documentClient' && isAttributeItem(body[main])) {
    throw wrong(
      `${path}.${name}`,
      'must hold native values, not AttributeValues, for the outbox was created with `documentClient`',
    )
  }
}

/** Without what dynamodb-toolbox keeps beside an action for itself, so that its `params()` fit as they come. */
export function plainWrite(write: ClientWrite): ClientWrite {
  if (typeof write !== 'object' || write === null || !('ToolboxItem' in write)) return write
  const { ToolboxItem: _, ...action } = write
  return action
}

function article(member: 'Item' | 'Key'): string {
  return member === 'Item' ? 'an Item' : 'a Key'
}

function wrong(path: string, rule: string): OutboxError {
  return new OutboxError('INVALID_TRANSACTION', `Not sent: ${path} ${rule}.`, { details: { path } })
}
