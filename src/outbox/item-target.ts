import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { AttributeItem } from './attribute-form.ts'
import type { AttributeWrite } from './client-write.ts'

/** Which item an action is on, as far as it says: a key, or the whole item of a put, whose key attributes it does not name. */
export type TargetedItem =
  | { readonly table: string; readonly key: AttributeItem; readonly item?: never }
  | { readonly table: string; readonly item: AttributeItem; readonly key?: never }

export function targetOf(write: AttributeWrite): TargetedItem {
  if (write.Put !== undefined) return { table: tableOf(write.Put.TableName), item: write.Put.Item ?? {} }
  const body = write.Update ?? write.Delete ?? write.ConditionCheck
  return { table: tableOf(body?.TableName), key: body?.Key ?? {} }
}

/** A table's name, of a name or an ARN (`arn:aws:dynamodb:region:account:table/name`). */
function tableOf(nameOrArn: string | undefined): string {
  return nameOrArn?.split(':table/').at(-1) ?? ''
}

/**
 * The first two actions on one item among those on one table, by their positions; undefined if none are for certain.
 * The names of the key attributes come from any action that has a key; without one, only two equal puts are known to meet.
 */
export function sameItem(entries: readonly (readonly [number, TargetedItem])[]): readonly [number, number] | undefined {
  const names = entries.map(([, { key }]) => key).find((key) => key !== undefined)
  const seen = new Map<string, number>()
  for (const [position, { key, item }] of entries) {
    const attributes = key ?? item
    const text = keyText(attributes, Object.keys(names ?? attributes).sort())
    const before = seen.get(text)
    if (before !== undefined) return [before, position]
    seen.set(text, position)
  }
  return undefined
}

function keyText(item: AttributeItem, names: readonly string[]): string {
  return JSON.stringify(names.map((name) => [name, valueText(item[name])]))
}

/** One text for equal values. Numbers that are written differently, such as 1 and 1.0, count as equal keys. */
function valueText(value: AttributeValue | undefined): unknown {
  if (value?.N !== undefined) return ['N', Number.isSafeInteger(Number(value.N)) ? String(Number(value.N)) : value.N]
  if (value?.B !== undefined) return ['B', Buffer.from(value.B).toString('base64')]
  return value ?? null
}
