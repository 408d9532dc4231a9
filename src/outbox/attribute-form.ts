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
  const marshalled: Record<string, AttributeValue> = {}
  for (const [name, value] of Object.entries(item)) marshalled[name] = marshalValue(value)
  return marshalled
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

/** Deepest nesting that DynamoDB takes, and a little more: it is the one to refuse that. */
const MAX_DEPTH = 40

type Check = (content: unknown, depth: number) => boolean
const isText: Check = (content) => typeof content === 'string'
const isTruth: Check = (content) => typeof content === 'boolean'
const isBytes: Check = (content) => ArrayBuffer.isView(content)
const isValue: Check = (content, depth) => isAttributeValue(content, depth + 1)
const listOf =
  (isElement: Check): Check =>
  (content, depth) =>
    Array.isArray(content) && content.every((element) => isElement(element, depth))

const CONTENT: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['S', isText],
  ['N', isText],
  ['B', isBytes],
  ['BOOL', isTruth],
  ['NULL', isTruth],
  ['SS', listOf(isText)],
  ['NS', listOf(isText)],
  ['BS', listOf(isBytes)],
  ['L', listOf(isValue)],
  ['M', (content, depth) => isMap(content) && Object.values(content).every((value) => isValue(value, depth))],
])

/** Whether a value has the shape of an AttributeValue: one member that names a type, with content of that type. */
function isAttributeValue(value: unknown, depth = 0): value is AttributeValue {
  if (!isMap(value) || depth > MAX_DEPTH) return false
  const [only, ...others] = Object.entries(value).filter(([, content]) => content !== undefined)
  return only !== undefined && others.length === 0 && CONTENT.get(only[0])?.(only[1], depth) === true
}

export function isAttributeItem(item: unknown): item is AttributeItem {
  return isMap(item) && Object.values(item).every((value) => isAttributeValue(value))
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
