import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { TransactionalOutbox } from '../../cdk/index.ts'
import { resourcesOf, someFunction, synthesise } from '../support/cdk.ts'
import { runCommand } from '../support/command-line.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (file: string) => readFile(join(ROOT, file), 'utf8')

/** Titles of entries: one alarm each, or several with a comma between them. */
const entriesOf = (runbook: string): string[] =>
  [...runbook.matchAll(/^### (.+)$/gm)].flatMap(([, title = '']) => title.split(', '))

let runbook: string
let alarms: string[]
beforeAll(async () => {
  runbook = await read('docs/runbook.md')
  const template = synthesise((stack) => {
    const outbox = new TransactionalOutbox(stack, 'Outbox')
    outbox.addConsumer('Orders', { handler: someFunction(stack) })
  })
  alarms = Object.keys(resourcesOf(template, 'AWS::CloudWatch::Alarm')).map((id) => id.replace(/^.*Alarms/, ''))
})

describe('docs/runbook.md', () => {
  it('has one entry for each alarm that the constructs make, and for no other', () => {
    expect(entriesOf(runbook).toSorted()).toEqual(alarms.toSorted())
  })

  it('says in each entry what to type and how to know that it is over', () => {
    const entries = runbook.split(/^### /m).slice(1)
    for (const entry of entries) {
      const [title] = entry.split('\n')
      expect(entry, title).toMatch(/```sh\n(.|\n)*(dynamodb-outbox|aws) [a-z]/)
      expect(entry, title).toMatch(/^\*\*Over\*\* when|^\*\*Over\*\* after/m)
    }
  })
})

const NOWHERE = 'http://127.0.0.1:1'

describe('the commands that documents tell to type', () => {
  beforeEach(() => {
    for (const service of ['', '_DYNAMODB', '_SQS', '_SSM']) vi.stubEnv(`AWS_ENDPOINT_URL${service}`, NOWHERE)
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, 'test')
    vi.stubEnv('AWS_REGION', 'eu-central-1')
    vi.stubEnv('AWS_MAX_ATTEMPTS', '1')
  })
  afterEach(() => void vi.unstubAllEnvs())

  it.each(['docs/runbook.md', 'docs/deploy.md', 'README.md'])(
    'in %s are taken as they are printed: only AWS is missing here',
    async (file) => {
      const lines = (await read(file)).match(/(?<=^npx dynamodb-outbox )[^#\n]*/gm) ?? []
      for (const line of new Set(lines)) {
        const argv = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
        if (argv[0] === 'install' || argv[0] === 'demo') continue
        const { code, err } = await runCommand(argv)
        expect({ line, code, err }).toEqual({ line, code: 2, err: expect.stringContaining('AWS does not answer') })
      }
    },
  )
})
