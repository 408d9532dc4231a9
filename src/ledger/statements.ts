import type { AttributeValue, BatchStatementRequest } from '@aws-sdk/client-dynamodb'
import { type Entry, parseEntry } from './entry.ts'
import type { Change, LedgerWrite } from './ledger-store.ts'

/**
 * Builds the PartiQL statement of one write: an INSERT, or an UPDATE with one SET list. Statements of one shape have one
 * text, so that DynamoDB's plan is the same. `tableName` must have been checked: it stands between double quotes.
 */
export function toStatement(tableName: string, write: LedgerWrite): BatchStatementRequest {
  return write.kind === 'insert' ? insertStatement(tableName, write.entry) : updateStatement(tableName, write)
}

/** Fails with `DuplicateItem` if any row stands there, expired or not. */
function insertStatement(tableName: string, entry: Entry): BatchStatementRequest {
  const { id, name, ...rest } = entry
  const fields = fieldsOf({ pk: id, sk: name, ...rest })
  return {
    Statement: `INSERT INTO "${tableName}" VALUE {${fields.map(([field]) => `'${field}': ?`).join(', ')}}`,
    Parameters: fields.map(([, value]) => value),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}

/** Fails with `ConditionalCheckFailed` if the row is another version or gone: an UPDATE never creates one. */
function updateStatement(tableName: string, write: LedgerWrite & { kind: 'update' }): BatchStatementRequest {
  const { key, expect, set } = write
  const fields = fieldsOf(set)
  const where = { pk: key.id, sk: key.name, token: expect.token, status: expect.status }
  return {
    Statement:
      `UPDATE "${tableName}" SET ${fields.map(([field]) => `"${field}" = ?`).join(', ')} ` +
      'WHERE "pk" = ? AND "sk" = ? AND "token" = ? AND "status" = ?',
    Parameters: [...fields, ...fieldsOf(where)].map(([, value]) => value),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}

/** Reads a row as DynamoDB gives it. Undefined for a row that this code did not write. */
export function fromItem(item: Readonly<Record<string, AttributeValue>>): Entry | undefined {
  return parseEntry(Object.fromEntries(Object.entries(item).map(([name, value]) => [name, toNative(value)])))
}

function toNative(value: AttributeValue): unknown {
  return value?.N === undefined ? value?.S : Number(value.N)
}

type Fields = Readonly<Change> | Readonly<Record<string, string | number>>

function fieldsOf(fields: Fields): [string, AttributeValue][] {
  return Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'number' ? { N: String(value) } : { S: String(value) },
  ])
}
