import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DemoKit } from '../../src/cli/demo.ts'
import { demoCommand } from '../../src/cli/demo-command.ts'
import { EXIT, type ExitCode, type Io } from '../../src/cli/io.ts'
import { on } from '../../src/consumer/handler.ts'
import { redrive } from '../../src/ops/redrive.ts'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { startLocalAws } from '../../src/testing/local-aws.ts'
import { waitFor } from '../../src/testing/wait.ts'
import { runCommand } from '../support/command-line.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'

describe('install', () => {
  let dynamo: TestDynamo
  beforeAll(async () => {
    dynamo = await startDynamo()
  })
  afterAll(() => dynamo.stop())

  it('makes both tables on this machine, and again does nothing', async () => {
    const names = [dynamo.tableName('outbox'), dynamo.tableName('ledger')] as const
    const argv = ['install', '--endpoint', dynamo.endpoint, '--outbox-table', names[0], '--ledger-table', names[1]]
    expect(await runCommand(argv)).toEqual({ code: EXIT.ok, out: `${names.join(' and ')} are there.\n`, err: '' })
    for (const TableName of names) {
      const { Table } = await dynamo.client.send(new DescribeTableCommand({ TableName }))
      expect(Table?.TableStatus).toBe('ACTIVE')
    }
    const again = await runCommand([...argv, '--json'])
    expect(JSON.parse(again.out)).toEqual({ outboxTable: names[0], ledgerTable: names[1] })
  })

  it.each<[string, readonly string[], Record<string, string>, RegExp]>([
    ['AWS', [], {}, /would be made in AWS\. .*--yes/],
    ['another machine', ['--endpoint', 'http://10.0.0.7:8000'], {}, /another machine\. .*--yes/],
    ['another machine of the environment', [], { AWS_ENDPOINT_URL: 'http://127.0.0.1.example.org' }, /another machine/],
    ['no URL', ['--endpoint', 'here'], {}, /must be a URL/],
  ])('refuses %s unless told to', async (_, more, env, message) => {
    expect(await runCommand(['install', ...more], env)).toEqual({
      code: EXIT.refused,
      out: '',
      err: expect.stringMatching(message),
    })
  })
})

describe('demo', () => {
  const kit: DemoKit = { startLocalAws, waitFor, createOutbox, on, redrive }

  async function demo(load: () => Promise<DemoKit>, ...argv: readonly string[]) {
    let out = ''
    let err = ''
    let code: ExitCode | undefined
    const io: Io = {
      out: (text) => {
        out += text
      },
      err: (text) => {
        err += text
      },
      env: {},
      isTerminal: false,
      columns: 80,
      signal: new AbortController().signal,
      finish: (ended) => {
        code = ended
      },
    }
    await new Command('program').addCommand(demoCommand(io, load)).parseAsync(['demo', ...argv], { from: 'user' })
    return { code, out, err }
  }

  it('loses, doubles and reorders nothing under its faults, and redrives its dead letter', {
    timeout: 120_000,
  }, async () => {
    const { code, out, err } = await demo(async () => kit, '--orders', '60')
    expect(out).toMatch(/events handled +│ 60/)
    expect(out).toContain('none lost, none doubled, every customer in order')
    expect(err).toContain('SQS is down')
    expect(code).toBe(EXIT.ok)
  })

  it('refuses a number that is none, and says what is missing', async () => {
    expect(await demo(async () => kit, '--orders', 'many')).toMatchObject({
      code: EXIT.refused,
      err: expect.stringContaining('--orders must be'),
    })
    const missing = async () => {
      throw Object.assign(new Error('no engine here'), { name: 'UsageError' })
    }
    expect(await demo(missing)).toMatchObject({ code: EXIT.refused, err: 'error: no engine here\n' })
  })
})
