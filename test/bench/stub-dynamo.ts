import { type StubAnswer, TABLE } from './stub.ts'

type Value = Readonly<Record<string, unknown>>
type Item = Readonly<Record<string, Value>>
type Statement = { readonly Statement?: string; readonly Parameters?: readonly Value[] }
type Expressions = {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>
  readonly ExpressionAttributeValues?: Item
}
type Action = Expressions & { readonly TableName?: string; readonly Item?: Item; readonly Key?: Item }
type Body = Action & {
  readonly Statements?: readonly Statement[]
  readonly TransactItems?: readonly Readonly<Record<string, Action>>[]
  readonly ClientRequestToken?: string
  readonly UpdateExpression?: string
}

const PREFIX = 'DynamoDB_20120810.'
const TYPES: ReadonlySet<string> = new Set(['S', 'N', 'B', 'BOOL', 'NULL', 'SS', 'NS', 'BS', 'L', 'M'])
const MAX_TRANSACTION_BYTES = 4 * 1024 * 1024

/** Name of the action of a request; undefined if it is none of DynamoDB's. */
export function dynamoActionOf(headers: Readonly<Record<string, unknown>>): string | undefined {
  const target = headers['x-amz-target']
  return typeof target === 'string' && target.startsWith(PREFIX) ? target.slice(PREFIX.length) : undefined
}

/** The writes that a relay and a transaction make, checked for their shape; every condition is taken to hold. */
export function answerDynamo(action: string, body: Body): StubAnswer {
  const wrong = CHECKS[action]?.(body) ?? (action in CHECKS ? undefined : `${action} is not for this benchmark`)
  if (wrong !== undefined) {
    return { fault: { code: 'ValidationException', message: wrong, senderFault: true }, items: 0 }
  }
  const { Statements } = body
  if (Statements === undefined) return { body: {}, items: body.TransactItems?.length ?? 1 }
  return { body: { Responses: Statements.map(() => ({ TableName: TABLE })) }, items: Statements.length }
}

/** What is wrong with a request, if anything is. */
const CHECKS: Readonly<Record<string, (body: Body) => string | undefined>> = {
  BatchExecuteStatement: ({ Statements = [] }) => {
    if (Statements.length < 1 || Statements.length > 25) return `${Statements.length} statements; 1 to 25 are allowed`
    if (new Set(Statements.map((statement) => JSON.stringify(statement.Parameters))).size < Statements.length)
      return 'two statements on one item'
    return Statements.map(statementFault).find((found) => found !== undefined)
  },
  TransactWriteItems: (body) => {
    const { TransactItems = [], ClientRequestToken = '' } = body
    if (TransactItems.length < 1 || TransactItems.length > 100) return `${TransactItems.length} actions`
    if (ClientRequestToken.length > 36) return 'the token is longer than 36 characters'
    if (JSON.stringify(TransactItems).length > 2 * MAX_TRANSACTION_BYTES) return 'more than 4 MB'
    return TransactItems.map(transactFault).find((found) => found !== undefined)
  },
  UpdateItem: (body) => (body.UpdateExpression ? actionFault(body, body.Key) : 'no UpdateExpression'),
}

function statementFault({ Statement = '', Parameters = [] }: Statement): string | undefined {
  if (!/^(UPDATE|INSERT INTO) "bench-table" /.test(Statement)) return 'a statement of another form or table'
  if (Statement.split('?').length - 1 !== Parameters.length) return 'parameters and question marks do not match'
  return Parameters.every(isValue) ? undefined : 'a parameter is no AttributeValue'
}

function transactFault(item: Readonly<Record<string, Action>>): string | undefined {
  const [[name, action] = ['', {}], ...others] = Object.entries(item)
  if (others.length > 0 || !['Put', 'Update', 'Delete', 'ConditionCheck'].includes(name)) return 'not one action'
  return actionFault(action, name === 'Put' ? action.Item : action.Key)
}

/** Table, key and every value; and each placeholder that is given is one that is used. */
function actionFault(action: Action, main: Item | undefined): string | undefined {
  const values = Object.values(action.ExpressionAttributeValues ?? {})
  const text = Object.entries(action)
    .filter(([name]) => name.endsWith('Expression'))
    .map(([, expression]) => expression)
    .join(' ')
  const given = [action.ExpressionAttributeNames ?? {}, action.ExpressionAttributeValues ?? {}].flatMap(Object.keys)
  if (action.TableName === undefined) return 'no TableName'
  if (main?.['pk'] === undefined) return 'no key'
  if (![...Object.values(main), ...values].every(isValue)) return 'a value is no AttributeValue'
  return given.every((name) => text.includes(name)) ? undefined : 'a placeholder is not used'
}

function isValue(value: Value): boolean {
  const [only, ...others] = Object.keys(value)
  return only !== undefined && others.length === 0 && TYPES.has(only)
}
