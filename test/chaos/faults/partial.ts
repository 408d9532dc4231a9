import { transactionCanceled, transactionConflict } from './aws-answers.ts'
import { pick, type Random } from './chance.ts'
import type { PartialAnswer, Refusal } from './partial-answer.ts'
import { partialBatch } from './partial-batch.ts'
import { cutPage, receiveFewer, unprocessedKeys } from './partial-read.ts'
import { partialStatements } from './partial-statements.ts'
import type { Json, LayerRequest } from './request.ts'

/** How this request is answered in part, if it can be. Pure. */
export function decidePartial(request: LayerRequest, random: Random): PartialAnswer | Refusal | undefined {
  const input = request.input()
  switch (request.operation) {
    case 'SendMessageBatch':
    case 'DeleteMessageBatch':
    case 'ChangeMessageVisibilityBatch':
      return partialBatch(request.operation, input, random)
    case 'ReceiveMessage':
      return receiveFewer(input, random)
    case 'BatchExecuteStatement':
      return partialStatements(input, random)
    case 'BatchGetItem':
      return unprocessedKeys(input, random)
    case 'Query':
      return cutPage(input, random)
    case 'TransactWriteItems':
    case 'TransactGetItems':
      return { kind: 'transactionCanceled', refused: transactionCanceled(cancellationCodes(input, random)) }
    default:
      return { kind: 'transactionConflict', refused: transactionConflict() }
  }
}

/** At least one action of a cancelled transaction has a reason. */
function cancellationCodes({ TransactItems = [] }: Json, random: Random): string[] {
  const actions = TransactItems as readonly unknown[]
  const culprit = Math.floor(random() * actions.length)
  return actions.map((_, n) =>
    n === culprit || random() < 0.2
      ? pick(random, ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])
      : 'None',
  )
}
