import {
  type DynamoDBClient,
  GetItemCommand,
  type GetItemCommandOutput,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  TransactWriteItemsCommand,
  type TransactWriteItemsInput,
} from '@aws-sdk/client-dynamodb'
import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb'
import { OutboxError } from '../errors.ts'
import { SEQUENCE_DIGITS } from '../event/identity.ts'
import { isAttributeItem, marshalAction, marshalItem } from './attribute-form.ts'
import type { AttributeWrite, ClientChoice, ClientWrite } from './client-write.ts'
import { marshalNative, unmarshalNative } from './dynamo-native-form.ts'
import { isOrderedKey, type RowKey } from './row.ts'
import type { Session } from './session.ts'

/** A session through the client given. */
export function createSession(choice: ClientChoice): Session {
  return choice.client === undefined ? documentSession(choice.documentClient) : attributeSession(choice.client)
}

function attributeSession(client: DynamoDBClient): Session {
  return {
    kind: 'client',
    toAttributes: (write) => write as AttributeWrite,
    fromOwn: marshalAction,
    toClientForm: (item) => item,
    send: (input) => client.send(new TransactWriteItemsCommand(input as TransactWriteItemsInput)),
    ...reads(client),
  }
}

function documentSession(documentClient: DynamoDBDocumentClient): Session {
  const { config } = documentClient
  return {
    kind: 'documentClient',
    toAttributes: (write) => marshalNative(write, config.translateConfig?.marshallOptions),
    fromOwn: (action) => action as ClientWrite,
    // The SDK leaves the items of a failed condition in DynamoDB's own form.
    toClientForm: (item) =>
      isAttributeItem(item) ? unmarshalNative(item, config.translateConfig?.unmarshallOptions) : item,
    send: (input) => documentClient.send(new TransactWriteCommand(input as TransactWriteCommandInput)),
    ...reads(documentClient),
  }
}

/** Our own rows are read in DynamoDB's own form through either client, whatever its options of marshalling. */
function reads(client: DynamoDBClient | DynamoDBDocumentClient): Pick<Session, 'region' | 'readRow' | 'highestRow'> {
  return {
    region: () => client.config.region(),
    readRow: async (tableName, key) => {
      const input = { TableName: tableName, Key: marshalItem(key), ConsistentRead: true }
      const output: GetItemCommandOutput = await (client as DynamoDBClient).send(new GetItemCommand(input))
      return output.Item
    },
    highestRow: async (tableName, pk) => {
      // What somebody else put under the group's key is passed over: usually there is none, and the first row is the one.
      let after: string | undefined
      for (let page = 0; page < MAX_PAGES; page++) {
        const command = new QueryCommand(highestRowInput(tableName, pk, after))
        const output: QueryCommandOutput = await (client as DynamoDBClient).send(command)
        const rows = (output.Items ?? []).map(({ sk, created }) => ({ sk: sk?.S ?? '', created: created?.N }))
        const highest = rows.find(({ sk }) => isOrderedKey({ pk, sk }))
        if (highest !== undefined) return { sequence: Number(highest.sk), created: Number(highest.created) || 0 }
        if (rows.length === 0) return undefined
        after = rows.at(-1)?.sk
      }
      const message = `No number was found: ${MAX_PAGES * FURTHER_ROWS} rows of another form lie under the group's key. Move them away.`
      throw new OutboxError('UNAVAILABLE', message)
    },
  }
}

/** Rows looked through at a time, where the first one is no number. */
const FURTHER_ROWS = 100
const MAX_PAGES = 20

function highestRowInput(tableName: string, pk: RowKey['pk'], after: string | undefined): QueryCommandInput {
  return {
    TableName: tableName,
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
    ExpressionAttributeValues: {
      ':pk': { S: pk },
      ':first': { S: '0'.repeat(SEQUENCE_DIGITS) },
      ':last': { S: '9'.repeat(SEQUENCE_DIGITS) },
    },
    ProjectionExpression: 'sk, created',
    ScanIndexForward: false,
    Limit: after === undefined ? 1 : FURTHER_ROWS,
    ConsistentRead: true,
    ...(after === undefined ? {} : { ExclusiveStartKey: marshalItem({ pk, sk: after }) }),
  }
}
