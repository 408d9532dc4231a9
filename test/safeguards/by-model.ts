import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { inPatchedCopy, ROOT } from './patched-copy.ts'
import type { Safeguard } from './safeguard.ts'
import { runTests } from './test-results.ts'

const PROPERTIES = 'test/property'
/** Holds the model's own engines to the contract of the real ones: no test of a rule. */
const CONTRACT = 'model/engine.test.ts'
/** Runs on the engines, by a real clock. */
const SLOW = 'pipeline-survives'

/** What stands nearest to a safeguard, by the first word of its name: looked at first. */
const NEAREST: Readonly<Record<string, readonly string[]>> = {
  outbox: ['model/model'],
  relay: ['relay-order', 'destinations', 'plan-requests', 'model/sender', 'model/model'],
  sweeper: ['relay-order', 'model/model'],
  consumer: ['ledger-claims', 'consumer-batch', 'model/model'],
  ledger: ['ledger-claims', 'pull/', 'model/model'],
  bus: ['bus/'],
  function: ['function/'],
  redrive: ['redrive/', 'replay/', 'model/model'],
  replay: ['replay/'],
  pull: ['pull/', 'pull-claims'],
}

/** The test of real code under random plans that fails without a safeguard, the nearest first; undefined if none does. */
export function caughtByModel(safeguard: Safeguard): Promise<string | undefined> {
  return inPatchedCopy(safeguard, async (copy) => {
    for (const file of await propertyFiles(safeguard)) {
      const results = await runTests(copy, { files: [file], bail: true })
      const failed = results.find(({ status }) => status === 'failed')
      if (failed !== undefined) return failed.fullName
    }
    return undefined
  })
}

/** Throws if one of them fails as it is: then it would prove nothing. */
export async function checkModel(): Promise<void> {
  const results = await runTests(ROOT, { files: await propertyFiles() })
  const failed = results.filter(({ status }) => status === 'failed')
  if (results.length === 0 || failed.length > 0)
    throw new Error(`The model tests do not pass on the code as it is: ${failed.length} of ${results.length} fail.`)
}

async function propertyFiles(nearestTo?: Safeguard): Promise<string[]> {
  const files = (await readdir(join(ROOT, PROPERTIES), { recursive: true })).filter(
    (file) => file.endsWith('.test.ts') && file !== CONTRACT,
  )
  const nearest = NEAREST[nearestTo?.name.split(':')[0] ?? ''] ?? []
  const rank = (file: string): number => {
    const place = nearest.findIndex((part) => file.includes(part))
    if (place >= 0) return place
    return nearest.length + (file.includes(SLOW) ? 1 : 0)
  }
  return files.sort((one, other) => rank(one) - rank(other)).map((file) => `${PROPERTIES}/${file}`)
}
