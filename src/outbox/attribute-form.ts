import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { AttributeWrite } from './client-write.ts'
import type { OwnAction, OwnItem, OwnValue } from './own-action.ts'

/** An item, key or set of expression values in DynamoDB's own form. */
export type AttributeItem = Readonly<Record<string, AttributeValue>>

/** An action of ours in DynamoDB's own form. */
export function marshalAction(action: OwnAction): AttributeWrite {
  if ('Put' in action) return { Put: { ...marshalRest(action.Put), Item: marshalItem(action.Put.Item) } }
  if ('Update' in action) return { Update: { ...marshalRest(action.Update), Key: marshalItem(action.Update.Key) } }
  if ('Delete' in action) return { Delete: { ...marshalRest(action.Delete), Key: marshalItem(action.Delete.Key) } }
  const { ConditionCheck } = action
  return { ConditionCheck: { ...marshalRest(ConditionCheck), Key: marshalItem(ConditionCheck.Key) } }
}

type Rest = { readonly ExpressionAttributeValues?: OwnItem }

function marshalRest<Body extends Rest>({ ExpressionAttributeValues, ...rest }: Body) {
  if (ExpressionAttributeValues === undefined) return rest
  return { ...rest, ExpressionAttributeValues: marshalItem(ExpressionAttributeValues) }
}

export function marshalItem(item: OwnItem): Record<string, AttributeValue> {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, marshalValue(value)]))
}

function marshalValue(value: OwnValue): AttributeValue {
  if (typeof value === 'string') return { S: value }
  if (typeof value === 'number') return { N: String(value) }
  return typeof value === 'boolean' ? { BOOL: value } : { SS: [...value] }
}

/** An item as plain native values, whichever form it came in: text, numbers, truth values, null, sets, lists and maps. */
export function plainItem(item: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (!isAttributeItem(item)) return { ...item }
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plainValue(value)]))
}

function plainValue(value: AttributeValue): unknown {
  if (value.N !== undefined) return Number(value.N)
  if (value.NULL !== undefined) return null
  if (value.SS !== undefined) return new Set(value.SS)
  if (value.NS !== undefined) return new Set(value.NS.map(Number))
  if (value.BS !== undefined) return new Set(value.BS)
  if (value.L !== undefined) return value.L.map(plainValue)
  if (value.M !== undefined) return plainItem(value.M)
  return value.S ?? value.BOOL ?? value.B
}

const CONTENT: Readonly<Record<string, (content: unknown) => boolean>> = {
  S: (content) => typeof content === 'string',
  N: (content) => typeof content === 'string',
  B: ArrayBuffer.isView,
  BOOL: (content) => typeof content === 'boolean',
  NULL: (content) => typeof content === 'boolean',
  SS: Array.isArray,
  NS: Array.isArray,
  BS: Array.isArray,
  L: Array.isArray,
  M: (content) => typeof content === 'object' && content !== null,
}

/** Whether a value has the shape of an AttributeValue: one member that names a type, with content of that type. */
function isAttributeValue(value: unknown): value is AttributeValue {
  if (typeof value !== 'object' || value === null) return false
  const members = Object.entries(value).filter(([, content]) => content !== undefined)
  const [only] = members
  return members.length === 1 && only !== undefined && CONTENT[only[0]]?.(only[1]) === true
}

export function isAttributeItem(item: unknown): item is AttributeItem {
  return typeof item === 'object' && item !== null && Object.values(item).every(isAttributeValue)
}
