import type { ScanEstimate } from '../ops/scan.ts'
import type { Io } from './io.ts'
import { count } from './render.ts'

/** Says what a scan reads before it begins; giving the option was the consent. */
export function consentToScan(io: Io): (estimate: ScanEstimate) => boolean {
  return (estimate) => {
    io.err(`Reading the whole table: ${scanText(estimate)}.\n`)
    return !io.signal.aborted
  }
}

/** `about 1,200 rows, 1.4 MB, 180 read units`, by the table's own count, which DynamoDB renews every six hours. */
export function scanText({ rows, bytes, readUnits }: ScanEstimate): string {
  return `about ${count(rows, 'row')}, ${size(bytes)}, ${count(readUnits, 'read unit')}`
}

function size(bytes: number): string {
  const megabytes = bytes / 1024 ** 2
  return megabytes < 1
    ? `${Math.ceil(bytes / 1024)} KB`
    : `${megabytes.toLocaleString('en', { maximumFractionDigits: 1 })} MB`
}
