import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import type { LayerRequest, Service } from './request.ts'

/** What an engine answered, whole. */
export type EngineAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer }

export type Engines = {
  /** Sends a request to its engine. Rejects if the engine cannot be reached. */
  readonly forward: (request: LayerRequest, headers: IncomingHttpHeaders) => Promise<EngineAnswer>
  readonly close: () => void
}

/** Kept-alive connections to both engines. */
export function connectEngines(urls: Readonly<Record<Service, string>>): Engines {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const targets = { dynamo: new URL(urls.dynamo), sqs: new URL(urls.sqs) }

  const forward: Engines['forward'] = ({ service, body }, headers) =>
    new Promise((resolve, reject) => {
      const { hostname, port, host } = targets[service]
      const outgoing = httpRequest({
        agent,
        hostname,
        port,
        path: '/',
        method: 'POST',
        headers: { ...headers, host, connection: 'keep-alive', 'content-length': String(body.length) },
      })
      outgoing.once('error', reject)
      outgoing.once('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', reject)
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 500, headers: response.headers, body: Buffer.concat(chunks) }),
        )
      })
      outgoing.end(body)
    })

  return { forward, close: () => agent.destroy() }
}
