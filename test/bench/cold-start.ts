import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SHOP_TABLE } from '../../functions/sample/shop-table.ts'
import { consumerEnvironment, relayEnvironment } from '../../src/settings.ts'
import { BUNDLE_NAMES, type BundleName, type Bundles, makeBundles } from './bundles.ts'
import type { Figure } from './figure.ts'
import type { Part } from './part.ts'
import { compare } from './rounds.ts'

const ROUNDS = 5
const QUEUE_URL = 'https://sqs.us-east-1.amazonaws.com/000000000000/orders.fifo'

/** Each function beside what its AWS clients alone would take, and the consumer beside Powertools. */
const PAIRS: readonly (readonly [ours: BundleName, peer: BundleName, against: string])[] = [
  ['relay', 'relayClients', 'its AWS clients alone'],
  ['sweeper', 'relayClients', "the relay's AWS clients alone"],
  ['consumer', 'consumerClients', 'its AWS clients alone'],
  ['consumer', 'powertools', 'one by Powertools'],
]

type Pair = (typeof PAIRS)[number]
type Times = Readonly<Record<BundleName, readonly number[]>>

/** Bytes of the bundles, and the time to import each in a fresh process: the part of a cold start that is ours. */
export const measureColdStart: Part = async (say) => {
  say('bundles')
  const bundles = await makeBundles()
  const folder = await mkdtemp(join(tmpdir(), 'outbox-bench-'))
  try {
    for (const name of BUNDLE_NAMES) await writeFile(join(folder, `${name}.mjs`), bundles[name].code)
    say(`${ROUNDS} imports of each`)
    const times = await importAll(folder)
    return PAIRS.flatMap((pair) => figuresOf(pair, bundles, times))
  } finally {
    await rm(folder, { recursive: true })
  }
}

function figuresOf([ours, peer, against]: Pair, bundles: Bundles, times: Times): Figure[] {
  const key = `${ours}Vs${peer.charAt(0).toUpperCase()}${peer.slice(1)}`
  const size = (name: string, unit: (of: BundleName) => number): Figure => {
    const sides = { unit: 'KB', ours: unit(ours) / 1024, peer: unit(peer) / 1024 }
    return {
      key: `${key}${name}Kb`,
      label: `bundle${name === 'Gzip' ? ', gzip' : ''}: ${ours}, against ${against}`,
      value: sides.ours / sides.peer,
      sides,
    }
  }
  const { ratio, spread, ...sides } = compare(times[ours], times[peer])
  const over: Figure = {
    key: `${ours}GzipOverSdkKb`,
    label: `bundle, gzip: ${ours}, KB above ${against}`,
    value: (bundles[ours].gzip - bundles[peer].gzip) / 1024,
    ...(ours === 'relay' ? { bound: { atMost: 30 } } : {}),
  }
  return [
    size('', (of) => bundles[of].code.length),
    size('Gzip', (of) => bundles[of].gzip),
    ...(peer === 'powertools' ? [] : [over]),
    {
      key: `${key}ImportMs`,
      label: `import: ${ours}, against ${against}`,
      value: ratio,
      sides: { unit: 'ms', ...sides },
      spread,
    },
  ]
}

/** One after the other, in turn: a function imports its code alone. */
async function importAll(folder: string): Promise<Times> {
  const times = Object.fromEntries(BUNDLE_NAMES.map((name) => [name, []])) as unknown as Record<BundleName, number[]>
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of BUNDLE_NAMES) times[name].push(await importOnce(join(folder, `${name}.mjs`)))
  }
  return times
}

async function importOnce(file: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'import-timer.ts'), file], {
    env: { ...process.env, ...ENVIRONMENT },
  })
  return Number(stdout)
}

const ENVIRONMENT = {
  AWS_REGION: 'us-east-1',
  ...relayEnvironment({ tableName: 'outbox', routes: [{ to: [{ kind: 'sqs', name: 'orders', url: QUEUE_URL }] }] }),
  ...consumerEnvironment({
    ledgerTable: 'ledger',
    outboxTable: 'outbox',
    queueUrl: QUEUE_URL,
    deadLetterQueueUrl: QUEUE_URL.replace('.fifo', '-dead.fifo'),
  }),
  [SHOP_TABLE]: 'shop',
}
