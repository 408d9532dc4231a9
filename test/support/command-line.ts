import { EXIT } from '../../src/cli/io.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import type { OutboxSystem } from '../../src/ops/system.ts'

export type Ran = { readonly code: number; readonly out: string; readonly err: string }

/** Runs the command as its file does, without a terminal, 80 columns wide. */
export async function runCommand(
  argv: readonly string[],
  env: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Ran> {
  let out = ''
  let err = ''
  const code = await runCli(
    argv,
    {
      out: (text) => {
        out += text
      },
      err: (text) => {
        err += text
      },
      env,
      isTerminal: false,
      columns: 80,
      signal: signal ?? new AbortController().signal,
    },
    '1.2.3',
  )
  return { code, out, err }
}

/** The options that name a system's tables and queues, and what the AWS SDK of this process must find in its environment. */
export async function connectCommand({
  dynamo,
  sqs,
  outboxTable,
  consumers,
}: OutboxSystem): Promise<readonly string[]> {
  process.env['AWS_ENDPOINT_URL_DYNAMODB'] = await endpointOf(dynamo)
  process.env['AWS_ENDPOINT_URL_SQS'] = await endpointOf(sqs)
  process.env['AWS_REGION'] = await dynamo.config.region()
  process.env['AWS_ACCESS_KEY_ID'] = 'test'
  process.env['AWS_SECRET_ACCESS_KEY'] = 'test'
  const specs = consumers.map(
    ({ name, ledgerTable, queueUrl, deadLetterQueueUrl }) => `${name}=${ledgerTable},${queueUrl},${deadLetterQueueUrl}`,
  )
  return ['--outbox-table', outboxTable, ...specs.flatMap((spec) => ['--consumer', spec])]
}

async function endpointOf(client: Pick<OutboxSystem['dynamo'] | OutboxSystem['sqs'], 'config'>): Promise<string> {
  const { protocol, hostname, port } = (await client.config.endpoint?.()) ?? {
    protocol: 'http:',
    hostname: '',
    port: 0,
  }
  return `${protocol}//${hostname}:${port}`
}

export { EXIT }
