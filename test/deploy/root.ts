import { join } from 'node:path'

/** The repository. */
export const ROOT = join(import.meta.dirname, '../..')
