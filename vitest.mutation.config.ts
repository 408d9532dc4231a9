import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The tests that judge the mutants of a folder of `src`, as their files' names begin, in the order in which they run: a
 * mutant's run ends at the first test that fails, so the cheap ones go first. Left out are tests of volume and of whole
 * processes, which take too long per mutant.
 */
const JUDGES: Readonly<Record<string, readonly string[]>> = {
  event: ['event/', 'outbox/', 'misuse', 'hostile/data', 'property/event-survives'],
  outbox: [
    'outbox/',
    'misuse',
    'contract/pull-',
    'property/pull-',
    'contract/row-',
    'integration/create-',
    'integration/transact',
    'integration/pull.',
    'hostile/data',
    'hostile/options',
  ],
  relay: [
    'relay/',
    'misuse',
    'contract/publisher',
    'contract/row-',
    'hostile/publishers',
    'hostile/records',
    'hostile/rows',
    'property/plan-',
    'property/destinations',
    'property/group-chunk',
    'property/deep-tail',
    'property/relay-',
  ],
  ledger: [
    'ledger/',
    'misuse',
    'contract/ledger',
    'property/coalesce',
    'property/ledger-',
    'hostile/answers',
    'consumer/',
  ],
  consumer: [
    'consumer/',
    'misuse',
    'contract/consumer-',
    'integration/consumer',
    'hostile/messages',
    'hostile/handlers',
    'property/dead-letter-copy',
    'property/consumer-',
  ],
}

class Judges extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const folders = new Set(this.ctx.config.related?.map((mutated) => /src\/(\w+)\//.exec(mutated)?.[1] ?? ''))
    const judges = [...folders].flatMap((folder) => JUDGES[folder] ?? [])
    const rank = ({ moduleId }: TestSpecification) => judges.findIndex((judge) => moduleId.includes(`/test/${judge}`))
    return files.filter((file) => rank(file) >= 0).sort((a, b) => rank(a) - rank(b))
  }
}

/** For Stryker alone (stryker.config.json), which says by `related` which file it has mutated. */
export default defineConfig({
  test: {
    include: [...new Set(Object.values(JUDGES).flat())].map((judge) => `test/${judge}*.test.ts`),
    exclude: ['test/relay/sweep-volume.test.ts'],
    setupFiles: ['test/mutation/fixed-chance.ts'],
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    sequence: { sequencer: Judges },
  },
})
