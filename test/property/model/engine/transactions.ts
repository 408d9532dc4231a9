import type { TransactGetItemsCommandInput, TransactWriteItem, TransactWriteItemsInput } from '@aws-sdk/client-dynamodb'
import { awsError } from '../faults.ts'
import type { Engine } from './engine.ts'
import { type Change, type Condition, read, readCondition, readUpdate } from './expressions.ts'
import { keyOf, type Slot, type Table } from './table.ts'
import type { Item } from './values.ts'

/** Tokens are known for ten minutes after their transaction was applied. */
const TOKEN_MS = 600_000
const MAX_ACTIONS = 100

type Action = {
  readonly table: Table
  readonly key: string
  readonly slot: Slot
  readonly holds: Condition
  readonly change: (item: Item | undefined) => Item | undefined
  readonly showsItem: boolean
}

type KnownToken = {
  readonly content: string
  readonly until: number
  readonly state: 'running' | 'applied' | 'refused'
}

export type Transactions = {
  readonly write: (input: TransactWriteItemsInput) => Promise<object>
  readonly get: (input: TransactGetItemsCommandInput) => object
}

/**
 * Transactions as DynamoDB has them: all or nothing for transactions and single reads, but a Query sees the items of one
 * that is under way each at its own moment; other writers conflict with it until it is through. A token that is known
 * answers for its transaction; with other content it is refused, cancelled ones included.
 */
export function createTransactions({ now, luck, wait, tableOf }: Engine): Transactions {
  const tokens = new Map<string, KnownToken>()
  let count = 0

  const write: Transactions['write'] = async ({ TransactItems = [], ClientRequestToken: token = '' }) => {
    const content = JSON.stringify(TransactItems, (_, part) => (part instanceof Set ? [...part] : part))
    const known = tokens.get(token)
    if (known !== undefined && known.until > now()) {
      if (known.content !== content) throw awsError('IdempotentParameterMismatchException')
      if (known.state === 'running') throw awsError('TransactionInProgressException')
      if (known.state === 'applied') return {}
    }
    const remember = (state: KnownToken['state']): void =>
      void tokens.set(token, { content, until: now() + TOKEN_MS, state })
    try {
      await apply(TransactItems.map(actionOf), () => remember('running'))
    } catch (error) {
      remember('refused')
      throw error
    }
    remember('applied')
    return {}
  }

  const apply = async (actions: readonly Action[], begun: () => void): Promise<void> => {
    if (actions.length === 0 || actions.length > MAX_ACTIONS) throw awsError('ValidationException')
    if (new Set(actions.map(({ table, key }) => `${table.name} ${key}`)).size < actions.length)
      throw awsError('ValidationException')
    refuseIfConflicting(actions)
    refuseIfNotHolding(actions)
    count += 1
    const { doneAt, visibleAt } = course(actions.length)
    const done = wait(doneAt - now())
    const results = actions.map(({ change, slot }) => change(slot.item))
    begun()
    actions.forEach(({ table, key, slot }, n) => {
      if (slot.item !== results[n]) table.announce(key, results[n])
      slot.pending = { item: results[n], visibleAt: visibleAt[n] ?? doneAt, done }
    })
    await done
    actions.forEach(({ table, key, slot }, n) => {
      slot.pending = undefined
      if (slot.item !== results[n]) table.store(key, results[n])
    })
  }

  /** Mostly over in no time; now and then it takes seconds, and shows its items one by one. */
  const course = (size: number): { doneAt: number; visibleAt: number[] } => {
    const lasts = luck('transaction', count) < 0.7 ? 1 : Math.floor(luck('lasts', count) ** 3 * 3000) + 1
    const visibleAt = Array.from({ length: size }, (_, n) => now() + Math.floor(luck('visible', count, n) * lasts))
    return { doneAt: now() + lasts, visibleAt }
  }

  const refuseIfConflicting = (actions: readonly Action[]): void => {
    if (actions.every(({ slot }) => slot.pending === undefined)) return
    cancel(actions.map(({ slot }) => ({ Code: slot.pending === undefined ? 'None' : 'TransactionConflict' })))
  }

  /** DynamoDB need not report every reason: sometimes only the first one. */
  const refuseIfNotHolding = (actions: readonly Action[]): void => {
    const failed = actions.filter(({ holds, slot }) => !holds(slot.item))
    if (failed.length === 0) return
    const reported = luck('reported', ++count) < 0.5 ? failed : failed.slice(0, 1)
    cancel(
      actions.map((action) => {
        if (!reported.includes(action)) return { Code: 'None' }
        const shown = action.showsItem && action.slot.item !== undefined ? { Item: action.slot.item } : {}
        return { Code: 'ConditionalCheckFailed', ...shown }
      }),
    )
  }

  const actionOf = ({ Put, Update, Delete, ConditionCheck }: TransactWriteItem): Action => {
    const body = Put ?? Update ?? Delete ?? ConditionCheck
    const target = (Put?.Item ?? Update?.Key ?? Delete?.Key ?? ConditionCheck?.Key ?? {}) as Item
    const table = tableOf(body?.TableName)
    const key = keyOf(target)
    const bindings = { names: body?.ExpressionAttributeNames, values: body?.ExpressionAttributeValues }
    const condition = body?.ConditionExpression
    const update: Change | undefined =
      Update?.UpdateExpression === undefined ? undefined : readUpdate(read(Update.UpdateExpression), bindings)
    return {
      table,
      key,
      slot: table.slot(key),
      holds: condition === undefined ? () => true : readCondition(read(condition), bindings),
      change: (item) => (Put ? target : Delete ? undefined : update ? update(item ?? target) : item),
      showsItem: body?.ReturnValuesOnConditionCheckFailure === 'ALL_OLD',
    }
  }

  const get: Transactions['get'] = ({ TransactItems = [] }) => {
    const slots = TransactItems.map(({ Get }) => tableOf(Get?.TableName).slot(keyOf(Get?.Key as Item)))
    if (slots.some(({ pending }) => pending !== undefined))
      cancel(slots.map(({ pending }) => ({ Code: pending === undefined ? 'None' : 'TransactionConflict' })))
    return { Responses: slots.map(({ item }) => (item === undefined ? {} : { Item: item })) }
  }

  return { write, get }
}

function cancel(reasons: readonly object[]): never {
  throw awsError('TransactionCanceledException', { CancellationReasons: reasons })
}
