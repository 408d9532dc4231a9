import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { Command } from 'commander'
import { createTables } from '../outbox/dynamo-create-tables.ts'
import { guarded } from './command.ts'
import { EXIT, type Io, printJson } from './io.ts'
import { usageError } from './usage-error.ts'

type Options = {
  readonly outboxTable: string
  readonly ledgerTable: string
  readonly endpoint?: string
  readonly region?: string
  readonly yes?: boolean
  readonly json?: boolean
}

/** Tables for tests and first steps; what is deployed belongs to its stack. */
export function installCommand(io: Io): Command {
  const summary = 'create outbox and ledger table for tests and first steps'
  const command = new Command('install')
    .summary(summary)
    .description(`${summary}; in production the constructs make them`)
    .option('--outbox-table <name>', 'name of the outbox table', 'outbox')
    .option('--ledger-table <name>', 'name of the ledger table', 'ledger')
    .option('--endpoint <url>', 'of DynamoDB; default: AWS_ENDPOINT_URL_DYNAMODB or AWS_ENDPOINT_URL')
    .option('--region <region>', 'the AWS Region')
    .option('--yes', 'also in AWS, or on another machine')
    .option('--json', 'print one JSON document instead of text')
    .addHelpText(
      'after',
      '\nExamples:\n  $ dynamodb-outbox install --endpoint http://127.0.0.1:8000\n  $ dynamodb-outbox install --outbox-table shop-outbox --yes\n',
    )
  return command.action(async (options: Options) => {
    io.finish(
      await guarded(io, async () => {
        const { outboxTable, ledgerTable, json } = options
        const client = connect(options, io)
        await createTables({ client, outboxTable, ledgerTable })
        if (json) printJson(io, { outboxTable, ledgerTable })
        else io.out(`${outboxTable} and ${ledgerTable} are there.\n`)
        return EXIT.ok
      }),
    )
  })
}

/** A local engine takes any credentials, and needs some. */
const LOCAL = { accessKeyId: 'local', secretAccessKey: 'local' }

function connect({ endpoint: given, region: named, yes }: Options, { env }: Io): DynamoDBClient {
  const endpoint = given ?? env['AWS_ENDPOINT_URL_DYNAMODB'] ?? env['AWS_ENDPOINT_URL']
  if (endpoint !== undefined && isLoopback(endpoint)) {
    const region = named ?? env['AWS_REGION'] ?? 'us-east-1'
    return new DynamoDBClient({ endpoint, region, ...(env['AWS_ACCESS_KEY_ID'] ? {} : { credentials: LOCAL }) })
  }
  if (!yes)
    throw usageError(
      `${endpoint === undefined ? 'These tables would be made in AWS' : 'The endpoint is on another machine'}. Give --endpoint http://127.0.0.1:…, or --yes if that is meant.`,
    )
  return new DynamoDBClient({
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(named === undefined ? {} : { region: named }),
  })
}

/** Throws a usage error for what is no URL. */
export function isLoopback(endpoint: string): boolean {
  if (!URL.canParse(endpoint)) throw usageError('--endpoint must be a URL such as http://127.0.0.1:8000.')
  const { hostname } = new URL(endpoint)
  return /^(127(\.\d+){3}|localhost|.+\.localhost|\[::1\])$/.test(hostname)
}
