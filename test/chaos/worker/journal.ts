import { openSync, writeSync } from 'node:fs'
import type { JournalLine } from '../audit/journal-line.ts'

/** Writes down what happens outside of AWS. */
export type Journal = (line: JournalLine) => void

/**
 * One file for all processes. A line is one write that appends: whole and in order with those of the others, and kept by
 * the operating system when the process is killed right after it.
 */
export function openJournal(path: string): Journal {
  const file = openSync(path, 'a')
  return (line) => {
    writeSync(file, `${JSON.stringify(line)}\n`)
  }
}
