import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'

export type Capacity = {
  /** Capacity units consumed since the last reset, by command. */
  readonly units: () => Readonly<Record<string, number>>
  readonly reads: () => number
  readonly reset: () => void
}

const READS = ['QueryCommand', 'GetItemCommand', 'BatchGetItemCommand', 'TransactGetItemsCommand']

/** Asks with every request what it consumed, and adds it up. */
export function measureCapacity(client: DynamoDBClient): Capacity {
  let units: Record<string, number> = {}
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const name = (context as { commandName?: string }).commandName ?? 'unknown'
      const input = { ...args.input, ReturnConsumedCapacity: 'TOTAL' }
      const result = await next({ ...args, input } as typeof args)
      const { ConsumedCapacity } = result.output as { ConsumedCapacity?: Consumed | Consumed[] }
      const consumed = [ConsumedCapacity ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0)
      units[name] = (units[name] ?? 0) + consumed
      return result
    },
    { step: 'initialize', name: 'measureCapacity' },
  )
  return {
    units: () => units,
    reads: () => READS.reduce((sum, name) => sum + (units[name] ?? 0), 0),
    reset: () => {
      units = {}
    },
  }
}

type Consumed = { readonly CapacityUnits?: number }
