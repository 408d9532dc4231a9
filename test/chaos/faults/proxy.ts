import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Outcome } from './assault.ts'
import { jsonAnswer } from './aws-answers.ts'
import type { EngineAnswer } from './forward.ts'
import { type LayerRequest, toRequest } from './request.ts'

export type Proxy = { readonly url: string; readonly close: () => Promise<void> }

export type Handle = (request: LayerRequest, headers: IncomingHttpHeaders) => Promise<Outcome>

/**
 * An HTTP server on 127.0.0.1 for both services; the path's first part names the process that asks. An outcome without an
 * answer, or a handler that throws, breaks the connection.
 */
export async function openProxy(handle: Handle): Promise<Proxy> {
  const asked = new Map<string, number>()
  let requests = 0

  const pass = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(incoming)
    const process = decodeURIComponent((incoming.url ?? '').split('/')[1] ?? '')
    const n = (asked.get(process) ?? 0) + 1
    asked.set(process, n)
    requests += 1
    const target = incoming.headers['x-amz-target'] as string | undefined
    const request = toRequest({ id: requests, n, process, target }, body)
    if (request === undefined) return reply(response, jsonAnswer({ message: 'No request of DynamoDB or SQS.' }, 400))
    const { answer, delivered } = await handle(request, incoming.headers)
    if (delivered !== undefined) response.once('close', delivered)
    if (answer === undefined) response.destroy()
    else reply(response, answer)
  }

  const server = createServer((incoming, response) => {
    pass(incoming, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = 120_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function readBody(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.once('error', reject)
    incoming.once('end', () => resolve(Buffer.concat(chunks)))
  })
}

/** What concerns one connection only, or a body that may have been changed, is not passed on. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'x-amz-crc32',
])

function reply(response: ServerResponse, { status, headers, body }: EngineAnswer): void {
  const passed = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name))
  response.writeHead(status, { ...Object.fromEntries(passed), 'content-length': body.length }).end(body)
}
