import { InvokeCommand } from '@aws-sdk/client-lambda'
import { DeleteCommand, type NativeAttributeValue, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import type { Order } from '../../functions/sample/place-order.ts'
import type { World } from './world.ts'

export type Item = Readonly<Record<string, NativeAttributeValue>>

/** All items of one of the sample's tables, which are small. Strongly consistent. */
export async function readAll({ dynamo }: World, table: string): Promise<Item[]> {
  const items: Item[] = []
  let from: Item | undefined
  do {
    const command = new ScanCommand({ TableName: table, ConsistentRead: true, ExclusiveStartKey: from })
    const { Items = [], LastEvaluatedKey } = await dynamo.send(command)
    items.push(...Items)
    from = LastEvaluatedKey
  } while (from !== undefined)
  return items
}

export async function put({ dynamo }: World, table: string, item: Item): Promise<void> {
  await dynamo.send(new PutCommand({ TableName: table, Item: item }))
}

export async function remove({ dynamo }: World, table: string, pk: string): Promise<void> {
  await dynamo.send(new DeleteCommand({ TableName: table, Key: { pk } }))
}

/** Invokes a function and answers with what it returned. Throws what it threw. */
export async function invoke({ lambda }: World, name: string, payload: unknown): Promise<unknown> {
  const { Payload, FunctionError } = await lambda.send(
    new InvokeCommand({ FunctionName: name, Payload: JSON.stringify(payload) }),
  )
  const answer = Buffer.from(Payload ?? []).toString()
  if (FunctionError !== undefined) throw new Error(`${name} failed (${FunctionError}): ${answer}`)
  return JSON.parse(answer)
}

export async function placeOrder(world: World, name: string, order: Order): Promise<boolean> {
  return ((await invoke(world, name, order)) as { placed: boolean }).placed
}
