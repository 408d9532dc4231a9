import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** The clients and commands that the relay uses, and nothing else: what the budget is counted from. */
export const CLIENTS_ALONE = `
  import {
    BatchExecuteStatementCommand, BatchGetItemCommand, DynamoDBClient, GetItemCommand, QueryCommand,
    TransactGetItemsCommand, UpdateItemCommand,
  } from '@aws-sdk/client-dynamodb'
  import { DescribeEventBusCommand, EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
  import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs'
  export const clients = [new DynamoDBClient({}), new EventBridgeClient({}), new SQSClient({})]
  export const commands = [
    BatchExecuteStatementCommand, BatchGetItemCommand, GetItemCommand, QueryCommand, TransactGetItemsCommand,
    UpdateItemCommand, DescribeEventBusCommand, PutEventsCommand, SendMessageBatchCommand,
  ]
`

/** A file, or the text of one. */
export type Source =
  | { readonly entryPoints: string[] }
  | { readonly stdin: { readonly contents: string; readonly resolveDir: string } }
/** `gzip` in bytes; `commands`: the files of the AWS clients' commands that are in it. */
export type Bundle = { readonly code: Uint8Array; readonly gzip: number; readonly commands: string }

/** ESM for Node 24 on Lambda, minified. */
export async function bundle(source: Source): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    ...source,
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // The SDK's ECMAScript modules, which can be shaken; Node's own convention would take its CommonJS.
    mainFields: ['module', 'main'],
    legalComments: 'none',
    // Dependencies that are CommonJS ask for Node's own modules with `require`.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    logLevel: 'warning',
  })
  const [file] = outputFiles
  if (file === undefined) throw new Error('esbuild made no file')
  const commands = Object.keys(metafile.inputs).filter((path) => /@aws-sdk\/client-.*\/commands\//.test(path))
  return {
    code: file.contents,
    gzip: gzipSync(file.contents, { level: 9 }).length,
    commands: commands.toSorted().join(),
  }
}
