import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What a mutant is tried on, in this order: its run ends at the first test that fails, so the cheap ones go first. */
const FOLDERS = ['event', 'outbox', 'relay', 'ledger', 'consumer', 'contract', 'property', 'integration']

const rank = ({ moduleId }: TestSpecification) => FOLDERS.findIndex((folder) => moduleId.includes(`/test/${folder}/`))

class CheapFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => rank(a) - rank(b))
  }
}

/** The tests that Stryker runs (stryker.config.json). Tests of volume and of whole processes take too long per mutant. */
export default defineConfig({
  test: {
    include: [
      'test/{event,outbox,relay,ledger,consumer,contract,property}/*.test.ts',
      'test/integration/{consumer,create-tables,transact,transact-faults}.test.ts',
    ],
    exclude: ['test/relay/sweep-volume.test.ts', 'test/property/pipeline-survives.property.test.ts'],
    setupFiles: ['test/mutation/fixed-chance.ts'],
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    sequence: { sequencer: CheapFirst },
  },
})
