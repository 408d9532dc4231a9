import { transactionCanceled, transactionConflict, transactionInProgress } from './aws-answers.ts'
import type { InProgress } from './in-progress.ts'
import { statementItems, transactionItems, writtenItem } from './item-keys.ts'
import type { PartialAnswer, Refusal } from './partial-answer.ts'
import { failStatements } from './partial-statements.ts'
import type { LayerRequest } from './request.ts'

const SINGLE_WRITES: ReadonlySet<string> = new Set(['PutItem', 'UpdateItem', 'DeleteItem'])

/**
 * What DynamoDB answers to whoever writes, or reads in a transaction, an item of a transaction in progress. Undefined for a
 * request that meets none.
 */
export function conflictOf(request: LayerRequest, progress: InProgress): PartialAnswer | Refusal | undefined {
  const { operation } = request
  const transacts = operation === 'TransactWriteItems'
  if (transacts && progress.hasToken(request.input()['ClientRequestToken']))
    return { kind: 'TransactionInProgress', refused: transactionInProgress() }
  if (transacts || operation === 'TransactGetItems') {
    const held = transactionItems(request.input()).map(({ name }) => progress.isHeld(name))
    if (!held.includes(true)) return undefined
    const codes = held.map((isHeld) => (isHeld ? 'TransactionConflict' : 'None'))
    return { kind: `conflict of ${operation}`, refused: transactionCanceled(codes) }
  }
  if (SINGLE_WRITES.has(operation)) {
    if (!progress.isHeld(writtenItem(request.input()))) return undefined
    return { kind: `conflict of ${operation}`, refused: transactionConflict() }
  }
  return operation === 'BatchExecuteStatement' ? statementConflicts(request, progress) : undefined
}

function statementConflicts(request: LayerRequest, progress: InProgress): PartialAnswer | undefined {
  const held = statementItems(request).flatMap((name, n) => (progress.isHeld(name) ? [n] : []))
  if (held.length === 0) return undefined
  const fates = new Map(held.map((n) => [n, { code: 'TransactionConflict', applied: false }]))
  return { ...failStatements(request.input(), fates), kind: 'conflict of BatchExecuteStatement' }
}
