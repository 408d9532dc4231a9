import { type FromPart, toParent } from './part-messages.ts'
import { PARTS } from './parts.ts'

/** Runs the part that the first argument names, and sends its figures to the process that started it. */
const tell = (message: FromPart): Promise<void> => toParent(message)
const load = PARTS[process.argv[2] ?? '']
if (load === undefined) throw new Error('no such part')
const measure = await load()
await tell({ figures: await measure((text) => void tell({ say: text })) })
process.exit(0)
