import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { marshall, type marshallOptions, unmarshall, type unmarshallOptions } from '@aws-sdk/util-dynamodb'
import type { AttributeItem } from './attribute-form.ts'
import type { AttributeWrite, ClientWrite } from './client-write.ts'

/** The parts of an action that hold values. */
const VALUE_PARTS: ReadonlySet<string> = new Set(['Item', 'Key', 'ExpressionAttributeValues'])

/** An action with native values in DynamoDB's own form, as the document client with these options would send it. */
export function marshalNative(write: ClientWrite, options: marshallOptions = {}): AttributeWrite {
  const actions = Object.entries(write).map(([name, body]) => {
    const parts = Object.entries(body ?? {}).map(([part, value]) => {
      return [part, VALUE_PARTS.has(part) ? marshalMembers(value, options) : value]
    })
    return [name, Object.fromEntries(parts)]
  })
  return Object.fromEntries(actions)
}

/** Member by member, without undefined ones and functions: so does the document client. */
function marshalMembers(item: unknown, options: marshallOptions): Record<string, AttributeValue> {
  const members = Object.entries(item ?? {}).filter(([, value]) => value !== undefined && typeof value !== 'function')
  const marshalOne = (value: unknown) =>
    marshall(value, { ...options, convertTopLevelContainer: true }) as AttributeValue
  return Object.fromEntries(members.map(([name, value]) => [name, marshalOne(value)]))
}

/** An item as the document client with these options would return it. */
export function unmarshalNative(item: AttributeItem, options: unmarshallOptions = {}): Record<string, unknown> {
  return unmarshall(item, { ...options, convertWithoutMapWrapper: false })
}
