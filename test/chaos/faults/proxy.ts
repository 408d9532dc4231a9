import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connectEngines, type EngineAnswer } from './forward.ts'
import { type LayerRequest, readTarget, roleOf } from './request.ts'

export type Proxy = {
  readonly url: string
  readonly requests: () => number
  readonly close: () => Promise<void>
}

/** An HTTP server on 127.0.0.1 for both services; the path's first part names the process that asks. */
export async function openProxy(urls: { readonly dynamo: string; readonly sqs: string }): Promise<Proxy> {
  const engines = connectEngines(urls)
  let requests = 0

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming, ++requests)
    if (request === undefined) return void response.writeHead(400).end()
    const answer = await engines.forward(request, incoming.headers)
    reply(response, answer)
  }

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      engines.close()
    },
  }
}

async function readRequest(incoming: IncomingMessage, id: number): Promise<LayerRequest | undefined> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const target = readTarget(incoming.headers['x-amz-target'] as string | undefined)
  const process = decodeURIComponent((incoming.url ?? '').split('/')[1] ?? '')
  if (target === undefined || process === '') return undefined
  return { id, process, role: roleOf(process), ...target, body: Buffer.concat(chunks) }
}

function reply(response: ServerResponse, { status, headers, body }: EngineAnswer): void {
  const { connection, 'keep-alive': _, 'transfer-encoding': __, ...rest } = headers
  response.writeHead(status, { ...rest, 'content-length': body.length }).end(body)
}
