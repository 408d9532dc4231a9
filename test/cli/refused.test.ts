import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { EXIT } from '../../src/cli/io.ts'
import { SYSTEMS_PATH } from '../../src/system-parameter.ts'
import { runCommand } from '../support/command-line.ts'
import { freePort } from '../support/free-port.ts'

/** AWS, as far as it refuses: answers every request in the same way. */
let server: Server
let answer: { readonly status: number; readonly body: object }
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.1' })
      response.end(JSON.stringify(answer.body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => void server.close())

beforeEach(() => {
  const { port } = server.address() as AddressInfo
  setEnvironment({
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  })
})
afterEach(() => vi.unstubAllEnvs())

function setEnvironment(values: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(values)) vi.stubEnv(name, value)
}

function refuse(type: string, message = 'no'): void {
  answer = { status: 400, body: { __type: type, message } }
}

async function said(...argv: readonly string[]): Promise<string> {
  const { code, out, err } = await runCommand(argv)
  expect([code, out]).toEqual([EXIT.refused, ''])
  expect(err).toMatch(/^error: [^\n]+\n$/)
  return err
}

const DENIED =
  'User: arn:aws:iam::1:user/ann is not authorized to perform: ssm:GetParametersByPath on resource: arn:aws:ssm:eu-central-1:1:parameter/dynamodb-outbox because no identity-based policy allows it'

/** Each looks for the system first, but for the last one. */
const COMMANDS: readonly (readonly string[])[] = [
  ['status'],
  ['dead-letters'],
  ['show', 'shop', 'order/1'],
  ['list', '--state', 'pending'],
  ['redrive', '--all', '--yes'],
  ['discard', '--all', '--reason', 'test', '--yes'],
  ['forget', 'shop', 'order/1', '--yes'],
  ['replay', '--source', 'shop', '--handler', 'a/b', '--yes'],
  ['doctor', '--fix', '--yes'],
  ['install', '--yes'],
]

it.each(COMMANDS)('%s names a missing permission, and tells of expired credentials', async (...argv) => {
  refuse('AccessDeniedException', DENIED)
  expect(await said(...argv)).toContain('Missing permission: ssm:GetParametersByPath on arn:aws:ssm')
  refuse('ExpiredTokenException', 'The security token included in the request is expired')
  expect(await said(...argv)).toMatch(/credentials have expired.*aws sso login/)
})

it.each<[string, Readonly<Record<string, string | undefined>>, RegExp]>([
  ['no Region', { AWS_REGION: undefined, AWS_DEFAULT_REGION: undefined }, /Give --region, or set AWS_REGION/],
  ['what is no Region', { AWS_REGION: 'not a region' }, /no Region/],
  ['no credentials', { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined }, /No AWS credentials/],
  ['an endpoint that is no URL', { AWS_ENDPOINT_URL: 'here' }, /AWS_ENDPOINT_URL/],
])('%s is said in one line', async (_, env, says) => {
  refuse('InternalFailure')
  setEnvironment({ ...env, AWS_PROFILE: undefined })
  expect(await said('status')).toMatch(says)
})

it('an endpoint that refuses the connection is said in one line', async () => {
  vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${await freePort()}`)
  expect(await said('status')).toMatch(/AWS does not answer\. Check the network, the Region and AWS_ENDPOINT_URL/)
})

it('a wrong stack, and one of several, are said with the names that there are', async () => {
  const of = (name: string) => ({
    Name: `${SYSTEMS_PATH}${name}`,
    Value: JSON.stringify({ kind: 'outbox', outboxTable: `${name}-table`, relay: 'relay', sweeper: 'sweeper' }),
  })
  answer = { status: 200, body: { Parameters: [] } }
  expect(await said('status')).toMatch(/No outbox is deployed in this account and Region.*--outbox-table/)
  answer = { status: 200, body: { Parameters: [of('Shop/Outbox'), of('Mail/Outbox')] } }
  expect(await said('status')).toMatch(/more than one system.*--system with one of: Shop\/Outbox, Mail\/Outbox/)
  expect(await said('status', '--system', 'Show')).toMatch(/no system of that name here.*Shop\/Outbox, Mail\/Outbox/)
})
