import { auditDeadLetters } from './audit-dead-letters.ts'
import { auditEffects } from './audit-effects.ts'
import { auditEnds } from './audit-ends.ts'
import { auditOrder } from './audit-order.ts'
import { auditTransactions } from './audit-transactions.ts'
import type { Books, Breach } from './books.ts'
import { indexBooks } from './index-books.ts'

/** Every way in which the promise did not hold, from what is stored alone. */
export function audit(books: Books): readonly Breach[] {
  const indexed = indexBooks(books)
  return [
    ...auditTransactions(indexed),
    ...auditEffects(indexed),
    ...auditOrder(indexed),
    ...auditDeadLetters(indexed),
    ...auditEnds(indexed),
  ]
}
