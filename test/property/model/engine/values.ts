import type { AttributeValue } from '@aws-sdk/client-dynamodb'

export type Item = Readonly<Record<string, AttributeValue>>

/** A value's text form, equal for equal values of one type. */
export function valueText(value: AttributeValue | undefined): string | undefined {
  if (value === undefined) return undefined
  if (value.N !== undefined) return `N${Number(value.N)}`
  if (value.S !== undefined) return `S${value.S}`
  return JSON.stringify(value, (_, part) => (part instanceof Set ? [...part].sort() : part))
}

/** Negative, zero or positive; undefined where DynamoDB has no order: other types, or nothing there. */
export function compareValues(a: AttributeValue | undefined, b: AttributeValue | undefined): number | undefined {
  if (a?.N !== undefined && b?.N !== undefined) return Number(a.N) - Number(b.N)
  if (a?.S !== undefined && b?.S !== undefined) return a.S < b.S ? -1 : a.S > b.S ? 1 : 0
  return undefined
}

/** `ADD`: a number is added to, a set united with. */
export function addValues(old: AttributeValue | undefined, added: AttributeValue): AttributeValue {
  if (added.N !== undefined) return { N: String(Number(old?.N ?? 0) + Number(added.N)) }
  return { SS: [...new Set([...(old?.SS ?? []), ...(added.SS ?? [])])] }
}
