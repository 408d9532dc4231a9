import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { afterEach, expect, it, vi } from 'vitest'
import { createDynamoClient } from '../../../functions/runtime/aws-clients.ts'

afterEach(() => vi.unstubAllEnvs())

it('a call that gets no answer ends by itself, after one more try', { timeout: 15_000 }, async () => {
  let requests = 0
  const silent = createServer(() => {
    requests += 1
  })
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${port}`)
  vi.stubEnv('AWS_REGION', 'eu-west-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local')
  const client = createDynamoClient()
  const began = performance.now()
  await expect(client.send(new ListTablesCommand())).rejects.toMatchObject({ name: 'TimeoutError' })
  expect(requests).toBe(2)
  expect(performance.now() - began).toBeLessThan(6000)
  client.destroy()
  silent.closeAllConnections()
  await new Promise((resolve) => silent.close(resolve))
})
