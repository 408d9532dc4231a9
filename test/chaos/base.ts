import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Counts, createCounts } from './faults/coverage.ts'
import { bundleWorker } from './processes/bundle-worker.ts'
import { createSpares, type Spares } from './processes/spares.ts'

/** What all rounds of a run share. */
export type Base = {
  readonly spares: Spares
  readonly counts: Counts
  /** How many times faster than real time the clocks run. */
  readonly speed: number
  readonly newFolder: (name: string) => Promise<string>
  /** Ends every process and removes all files. */
  readonly close: () => Promise<void>
}

const SPARES = 2
const FASTEST = 15
const SLOWEST = 8
/** What a process takes to start on a machine that does nothing else, ms. */
const START_MS = 500

/** `speed`: default as fast as the machine bears now. */
export async function openBase({ speed }: { readonly speed: number | undefined }): Promise<Base> {
  const folder = await mkdtemp(join(tmpdir(), 'chaos-'))
  const program = await bundleWorker(folder)
  const spares = createSpares({ program, count: SPARES, cache: join(folder, 'cache') })
  return {
    spares,
    counts: createCounts(),
    speed: speed ?? bearableSpeed(await spares.startMs()),
    newFolder: async (name) => {
      const path = join(folder, name)
      await mkdir(path)
      return path
    },
    close: async () => {
      await spares.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Timeouts shrink with the speed, and must not strike where a process is merely waiting for a busy machine. */
function bearableSpeed(startMs: number): number {
  return Math.round(Math.min(FASTEST, Math.max(SLOWEST, (FASTEST * START_MS) / startMs)))
}
