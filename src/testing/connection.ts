import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { Clock } from '../clock.ts'
import { invalidSetting } from '../settings.ts'
import { LOCAL_REGION } from './records.ts'
import { scaledClock, type TimeScale } from './scaled-clock.ts'

/** All that another process needs to join a local AWS. Plain JSON. */
export type LocalAwsAddress = {
  readonly dynamoEndpoint: string
  readonly sqsEndpoint: string
  readonly outboxTable: string
  readonly ledgerTable: string
  readonly scale: TimeScale
}

/** Clients of a local AWS, its tables, and its clock. */
export type LocalAwsConnection = {
  readonly address: LocalAwsAddress
  readonly dynamo: DynamoDBClient
  readonly sqs: SQSClient
  readonly outboxTable: string
  readonly ledgerTable: string
  readonly clock: Clock
  readonly close: () => void
}

/** Holds the address, as JSON, in the environment of every process that an event source starts. */
export const ADDRESS_VARIABLE = 'LOCAL_AWS'

/**
 * Joins a local AWS that another process has started: in a module run by `processFunction` without an argument. The
 * engines take any credentials.
 */
export function connectLocalAws(address: LocalAwsAddress = addressFromEnvironment()): LocalAwsConnection {
  const { dynamoEndpoint, sqsEndpoint, outboxTable, ledgerTable, scale } = address
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const dynamo = new DynamoDBClient({ endpoint: dynamoEndpoint, region: LOCAL_REGION, credentials })
  const sqs = new SQSClient({ endpoint: sqsEndpoint, region: LOCAL_REGION, credentials })
  const close = (): void => {
    dynamo.destroy()
    sqs.destroy()
  }
  return { address, dynamo, sqs, outboxTable, ledgerTable, clock: scaledClock(scale), close }
}

/** Environment for a process that joins: the address, and what the AWS SDK's own clients read. */
export function connectionEnvironment(address: LocalAwsAddress): Record<string, string> {
  return {
    [ADDRESS_VARIABLE]: JSON.stringify(address),
    AWS_ENDPOINT_URL_DYNAMODB: address.dynamoEndpoint,
    AWS_ENDPOINT_URL_SQS: address.sqsEndpoint,
    AWS_REGION: LOCAL_REGION,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  }
}

function addressFromEnvironment(): LocalAwsAddress {
  const text = process.env[ADDRESS_VARIABLE]
  if (text === undefined)
    throw invalidSetting(ADDRESS_VARIABLE, 'is not set; pass the address, or run inside a process function')
  return JSON.parse(text) as LocalAwsAddress
}
