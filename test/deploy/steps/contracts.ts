import { join } from 'node:path'
import { ROOT } from '../root.ts'
import { runCommand } from '../run-command.ts'
import type { Step } from '../step.ts'

const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs')
const OF_DYNAMODB = ['row-store', 'ledger']
const OF_SQS = ['sqs', 'publisher', 'consumer-queue']

/** Titles of what the emulator takes and AWS refuses. The strict fakes and the embedded engines prove them in `npm test`. */
const TOO_LENIENT = [
  'rejects the whole request when one row is named twice',
  'takes the good entries of a request whose others it refuses',
  'answers a request of refused entries alone',
  'changes visibility entry by entry, and refuses a handle that is made up or spent',
]

export const contracts: Step = {
  title: 'the contract suites on its DynamoDB and SQS',
  differs: {
    how: `it takes ids with spaces, visibilities over 12 hours and an item twice in a batch: ${TOO_LENIENT.length} tests left out`,
    tests: ['test/contract/sqs.test.ts', 'test/contract/row-store.test.ts'],
  },
  emulatorOnly: true,
  run: async () => {
    const endpoint = process.env['AWS_ENDPOINT_URL'] ?? ''
    const outputs = await Promise.all([
      suites(OF_DYNAMODB, { DYNAMODB_ENDPOINT: endpoint }),
      suites(OF_SQS, { SQS_ENDPOINT: endpoint }),
    ])
    const passed = outputs.map((output) => Number(/Tests\s+(?:.*\| )?(\d+) passed/.exec(output)?.[1] ?? 0))
    if (passed.includes(0)) throw new Error(`a suite ran no test:\n${outputs.join('\n')}`)
    return `${passed.reduce((sum, one) => sum + one)} tests`
  },
}

function suites(names: readonly string[], endpoint: Record<string, string>): Promise<string> {
  const files = names.map((name) => `test/contract/${name}.test.ts`)
  const others = `^(?!.*(${TOO_LENIENT.join('|')}))`
  const args = [VITEST, 'run', '--reporter=default', '--testNamePattern', others, ...files]
  return runCommand(process.execPath, args, { cwd: ROOT, env: { ...process.env, NO_COLOR: '1', ...endpoint } })
}
