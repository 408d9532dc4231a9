import type { Json, LayerRequest } from './request.ts'

/** An item as text: table, partition key, sort key. All tables of the rig have `pk` and `sk`, both text. */
export type ItemName = string

export function itemName(table: string, pk: string, sk: string): ItemName {
  return `${table} ${pk} ${sk}`
}

type Attributes = Readonly<Record<string, { readonly S?: string } | undefined>>
type Action = {
  readonly TableName: string
  readonly Key?: Attributes
  readonly Item?: Attributes
  readonly ConditionExpression?: string
}

/** The item of each action of a transaction, in order. */
export function transactionItems(input: Json): readonly { readonly name: ItemName; readonly inserts: boolean }[] {
  const actions = (input['TransactItems'] ?? []) as readonly Readonly<Record<string, Action>>[]
  return actions.map((action) => {
    const [kind = '', body] = Object.entries(action)[0] ?? []
    const inserts = kind === 'Put' && body?.ConditionExpression?.startsWith('attribute_not_exists') === true
    return { name: actionItem(body), inserts }
  })
}

function actionItem({ TableName = '', Key, Item }: Partial<Action> = {}): ItemName {
  return keyName(TableName, Key ?? Item ?? {})
}

export function keyName(table: string, { pk, sk }: Attributes): ItemName {
  return itemName(table, pk?.S ?? '', sk?.S ?? '')
}

/** The item of a single write. */
export function writtenItem(input: Json): ItemName {
  return actionItem(input as unknown as Action)
}

type Statement = { readonly Statement: string; readonly Parameters?: readonly { readonly S?: string }[] }

/** The item of each PartiQL statement, in order, by the parameters that stand for its key. */
export function statementItems({ input }: Pick<LayerRequest, 'input'>): readonly ItemName[] {
  const statements = (input()['Statements'] ?? []) as readonly Statement[]
  return statements.map(({ Statement: text, Parameters = [] }) => {
    const table = /"([^"]+)"/.exec(text)?.[1] ?? ''
    const keyPart = (name: string): string => {
      const at = text.search(new RegExp(`["']${name}["'](: | = )\\?`))
      const before = text.slice(0, Math.max(at, 0)).split('?').length - 1
      return Parameters[before]?.S ?? ''
    }
    return itemName(table, keyPart('pk'), keyPart('sk'))
  })
}
