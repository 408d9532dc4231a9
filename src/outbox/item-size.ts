import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { AttributeItem } from './attribute-form.ts'

/** Size of an item as DynamoDB counts it: UTF-8 bytes of names and values, see "Item sizes" in its developer guide. */
export function itemSize(item: AttributeItem): number {
  let size = 0
  for (const [name, value] of Object.entries(item)) size += Buffer.byteLength(name) + valueSize(value)
  return size
}

function valueSize(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S)
  if (value.N !== undefined) return numberSize(value.N)
  if (value.B !== undefined) return value.B.byteLength
  if (value.SS !== undefined) return sum(value.SS, (text) => Buffer.byteLength(text))
  if (value.NS !== undefined) return sum(value.NS, numberSize)
  if (value.BS !== undefined) return sum(value.BS, (bytes) => bytes.byteLength)
  // Lists and maps cost 3 bytes, and each element one more.
  if (value.L !== undefined) return 3 + sum(value.L, (element) => 1 + valueSize(element))
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + itemSize(value.M)
  return 1
}

/** One byte per two significant digits, one more, and one for a minus sign; leading and trailing zeroes are free. */
function numberSize(text: string): number {
  const digits = text
    .replace(/e.*$/i, '')
    .replace(/[^\d]/g, '')
    .replace(/^0+|0+$/g, '').length
  return Math.ceil(digits / 2) + 1 + (text.startsWith('-') ? 1 : 0)
}

function sum<Element>(elements: readonly Element[], sizeOf: (element: Element) => number): number {
  return elements.reduce((total, element) => total + sizeOf(element), 0)
}
