import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { type ConsumerQueue, createLedger, createSqsQueue, type Ledger } from '../../src/consumer/index.ts'
import { createOutbox, type Outbox } from '../../src/index.ts'
import { readConsumerSettings } from '../../src/settings.ts'
import { createDynamoClient, createSqsClient } from './aws-clients.ts'
import { createInstruments, type Instruments } from './instruments.ts'

export type ConsumerParts = Pick<Instruments, 'logger' | 'telemetry'> & {
  readonly ledger: Ledger
  readonly queue: ConsumerQueue
  /** Undefined if the environment names no outbox table. */
  readonly outbox?: Outbox
}

/** What `createConsumer` needs beside handlers, made of the environment. Throws `INVALID_SETTING` at the function's start. */
export function consumerFromEnvironment(name: string): {
  readonly parts: ConsumerParts
  readonly documentClient: DynamoDBDocumentClient
  readonly instrument: Instruments['instrument']
} {
  const { ledgerTable, ledgerKeepDays, outboxTable, ...urls } = readConsumerSettings(process.env)
  const { logger, telemetry, instrument } = createInstruments(name, ledgerTable)
  const documentClient = DynamoDBDocumentClient.from(createDynamoClient())
  const keep = ledgerKeepDays === undefined ? {} : { keepDays: ledgerKeepDays }
  const outbox = outboxTable === undefined ? {} : { outbox: createOutbox({ documentClient, tableName: outboxTable }) }
  const parts = {
    ledger: createLedger({ documentClient, tableName: ledgerTable, ...keep }),
    queue: createSqsQueue({ client: createSqsClient(), ...urls }),
    logger,
    telemetry,
    ...outbox,
  }
  return { parts, documentClient, instrument }
}
