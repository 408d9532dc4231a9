import type {
  AttributeValue,
  BatchExecuteStatementCommandInput,
  BatchStatementRequest,
  UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb'
import { awsError } from '../faults.ts'
import type { Engine } from './engine.ts'
import { type Condition, type Reader, read, readCondition, readUpdate } from './expressions.ts'
import { keyOf, type Table } from './table.ts'
import type { Item } from './values.ts'

const MAX_STATEMENTS = 25

export type Writes = {
  readonly update: (input: UpdateItemCommandInput) => object
  readonly statements: (input: BatchExecuteStatementCommandInput, partial?: (part: number) => number) => object
}

type Refusal = { readonly Code: string; readonly Item?: Item }

/** Writes outside of transactions: one item each, all at once or not at all. */
export function createWrites({ tableOf, luck, onRefused }: Engine): Writes {
  let count = 0

  const update: Writes['update'] = (input) => {
    const { TableName, Key, UpdateExpression = '', ConditionExpression } = input
    const table = tableOf(TableName)
    const key = keyOf(Key as Item)
    const slot = table.slot(key)
    const bindings = { names: input.ExpressionAttributeNames, values: input.ExpressionAttributeValues }
    const change = readUpdate(read(UpdateExpression), bindings)
    if (slot.pending !== undefined) throw awsError('TransactionConflictException')
    if (ConditionExpression !== undefined && !readCondition(read(ConditionExpression), bindings)(slot.item)) {
      const shown = input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && slot.item !== undefined
      throw awsError('ConditionalCheckFailedException', shown ? { Item: slot.item } : {})
    }
    table.change(key, change(slot.item ?? (Key as Item)))
    return {}
  }

  const statements: Writes['statements'] = ({ Statements = [] }, partial) => {
    if (Statements.length === 0 || Statements.length > MAX_STATEMENTS) throw awsError('ValidationException')
    const parsed = Statements.map((statement) => parse(statement, tableOf))
    if (new Set(parsed.map(({ table, key }) => `${table.name} ${key}`)).size < parsed.length)
      throw awsError('ValidationException')
    const answers = parsed.map((statement, n) => {
      // One statement fares badly by itself: it is not carried out, or it is and its part of the answer says otherwise.
      const fate = partial?.(n) ?? 1
      if (fate < 0.2) return { Error: { Code: 'ThrottlingError' } }
      if (fate < 0.3) return { Error: { Code: 'TransactionConflict' } }
      const refusal = execute(statement)
      if (refusal?.Code === 'ConditionalCheckFailed')
        onRefused(statement.table.name, statement.table.slot(statement.key).item)
      // Not every engine shows what stands there.
      if (refusal?.Item !== undefined && luck('shows', ++count) < 0.3) return { Error: { Code: refusal.Code } }
      if (fate < 0.6) return { Error: { Code: 'InternalServerError' } }
      return refusal === undefined ? {} : { Error: refusal }
    })
    return { Responses: answers }
  }
  return { update, statements }
}

type Statement = {
  readonly table: Table
  readonly key: string
  readonly showsItem: boolean
  readonly holds: Condition
  readonly change: (item: Item | undefined) => Item
  readonly refused: 'DuplicateItem' | 'ConditionalCheckFailed'
}

function execute({ table, key, showsItem, holds, change, refused }: Statement): Refusal | undefined {
  const slot = table.slot(key)
  if (slot.pending !== undefined) return { Code: 'TransactionConflict' }
  if (holds(slot.item)) {
    table.change(key, change(slot.item))
    return undefined
  }
  return { Code: refused, ...(showsItem && slot.item !== undefined ? { Item: slot.item } : {}) }
}

function parse(request: BatchStatementRequest, tableOf: Engine['tableOf']): Statement {
  const reader = read(request.Statement ?? '')
  const parameters = request.Parameters ?? []
  const showsItem = request.ReturnValuesOnConditionCheckFailure === 'ALL_OLD'
  if (reader.skip('INSERT')) return { ...parseInsert(reader, parameters, tableOf), showsItem }
  reader.take('UPDATE')
  const table = tableOf(reader.take().slice(1, -1))
  const change = readUpdate(reader, { parameters })
  reader.take('WHERE')
  const where: { key: Record<string, AttributeValue> } = { key: {} }
  const holds = readCondition(reader, { parameters })
  for (const [name, place] of keyParameters(request.Statement ?? '')) {
    const value = parameters[place]
    if (value !== undefined) where.key[name] = value
  }
  return {
    table,
    key: keyOf(where.key),
    showsItem,
    // An UPDATE never makes an item.
    holds: (item) => item !== undefined && holds(item),
    change: (item) => change(item ?? {}),
    refused: 'ConditionalCheckFailed',
  }
}

function parseInsert(reader: Reader, parameters: readonly AttributeValue[], tableOf: Engine['tableOf']) {
  reader.take('INTO')
  const table = tableOf(reader.take().slice(1, -1))
  reader.take('VALUE')
  reader.take('{')
  const item: Record<string, AttributeValue> = {}
  do {
    const name = reader.take().slice(1, -1)
    reader.take(':')
    reader.take('?')
    const value = parameters[reader.nextParameter()]
    if (value !== undefined) item[name] = value
  } while (reader.skip(','))
  const holds = (stored: Item | undefined): boolean => stored === undefined
  return { table, key: keyOf(item), holds, change: (): Item => item, refused: 'DuplicateItem' as const }
}

/** Places of the parameters that name the item: a statement without both keys would be a scan. */
function keyParameters(statement: string): [string, number][] {
  const before = (at: number): number => statement.slice(0, at).split('?').length - 1
  return [...statement.matchAll(/"(pk|sk)" = \?/g)].map(({ 1: name = '', index }) => [name, before(index)])
}
