import type { ScanEstimate } from '../ops/scan.ts'
import type { Io } from './io.ts'
import { count } from './render.ts'

/** Says what a scan reads before it begins; giving the option was the consent. */
export function consentToScan(io: Io): (estimate: ScanEstimate) => boolean {
  return ({ rows, bytes, readUnits }) => {
    const size = `${(bytes / 1024 ** 2).toFixed(1)} MB`
    io.err(`Reading the whole table: about ${count(rows, 'row')}, ${size}, ${count(readUnits, 'read unit')}.\n`)
    return !io.signal.aborted
  }
}
