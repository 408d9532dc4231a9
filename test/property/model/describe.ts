import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { decodeBody } from '../../../src/event/codec.ts'
import { eventId } from '../../../src/event/identity.ts'
import { identityOf } from '../../../src/outbox/row.ts'
import type { Story } from './story.ts'

type Describe = (op: string, input: unknown) => (() => string) | undefined
type Values = Readonly<Record<string, AttributeValue>>
type Action = {
  readonly Item?: Values
  readonly Key?: Values
  readonly UpdateExpression?: string
  readonly ConditionExpression?: string
}
type DynamoInput = Action & {
  readonly TransactItems?: readonly Readonly<Record<string, Action>>[]
  readonly Statements?: readonly { readonly Statement: string; readonly Parameters?: readonly AttributeValue[] }[]
}

/** What a request to DynamoDB is about, in a few words. Reads are worth none. */
export function describeDynamo({ nameOf }: Pick<Story, 'nameOf'>): Describe {
  const target = (pk = '', sk = ''): string => {
    const identity = identityOf({ pk, sk })
    return identity === undefined ? nameOf(sk === '-' ? pk : `${pk} ${sk}`) : nameOf(eventId(identity))
  }
  const keyed = (values: Values | undefined): string => target(values?.pk?.S, values?.sk?.S)
  const statement = ({
    Statement,
    Parameters = [],
  }: {
    Statement: string
    Parameters?: readonly AttributeValue[]
  }): string => {
    const words = Statement.startsWith('INSERT') ? 'insert' : (/SET (.*) WHERE/.exec(Statement)?.[1] ?? '')
    const texts = Parameters.flatMap(({ S }) => S ?? [])
    const place = Statement.startsWith('INSERT')
      ? 0
      : Statement.slice(0, Statement.indexOf('"pk" = ?')).split('?').length - 1
    const status =
      texts.find((text) => ['running', 'alone', 'failed', 'dead', 'done'].includes(text)) ?? words.slice(0, 20)
    return `${target(Parameters[place]?.S, Parameters[place + 1]?.S)} → ${status}`
  }
  return (op, input) => {
    const { TransactItems = [], Statements = [], Key, UpdateExpression = '' } = input as DynamoInput
    if (op === 'BatchExecuteStatement') return () => Statements.map(statement).join(', ')
    if (op === 'UpdateItem')
      return keyed(Key).startsWith('H#') ? undefined : () => `${keyed(Key)}: ${UpdateExpression.slice(0, 60)}`
    if (op !== 'TransactWriteItems') return undefined
    return () =>
      TransactItems.flatMap((action) =>
        Object.entries(action).map(([kind, one]) => `${kind} ${keyed(one.Item ?? one.Key)}`),
      ).join(', ')
  }
}

type SqsInput = {
  readonly QueueUrl?: string
  readonly MessageBody?: string
  readonly Entries?: readonly { readonly MessageBody?: string }[]
}

/** The same for SQS: what is sent where. */
export function describeSqs({ nameOf }: Pick<Story, 'nameOf'>): Describe {
  const event = (body = ''): string => {
    const decoded = decodeBody(body)
    return decoded.ok ? nameOf(decoded.event.id) : 'something'
  }
  return (op, input) => {
    const { QueueUrl = '', MessageBody, Entries = [] } = input as SqsInput
    const queue = QueueUrl.split('/').at(-1)
    if (op === 'SendMessageBatch')
      return () => `${queue}: ${Entries.map(({ MessageBody: body }) => event(body)).join(', ')}`
    return op === 'SendMessage' ? () => `${queue}: ${event(MessageBody)}` : undefined
  }
}
