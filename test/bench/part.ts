import type { Figure } from './figure.ts'

/** Says what is being done now: a line for whoever watches. */
export type Say = (text: string) => void

/** One part of the benchmark. It runs in a process of its own, so that no part pays for another's heap. */
export type Part = (say: Say) => Promise<readonly Figure[]>
