import type { Environment } from '../settings.ts'

/** All that a command has of the outside: what it prints, what it is told, and when it shall end. */
export type Io = {
  /** Results, and nothing else. */
  readonly out: (text: string) => void
  /** Progress, hints and errors. */
  readonly err: (text: string) => void
  readonly env: Environment
  /** Whether standard error is a terminal: only then are there bars. */
  readonly isTerminal: boolean
  /** Columns of standard output. */
  readonly columns: number
  /** Aborted by Ctrl-C: work ends between two requests. */
  readonly signal: AbortSignal
  /** What the command ends with. */
  readonly finish: (code: ExitCode) => void
}

/** What a command ends with: documented in its help, stable for scripts. */
export const EXIT = {
  /** It did what was asked, and all is well. */
  ok: 0,
  /** It did what it could: something is wrong, or was left. */
  incomplete: 1,
  /** Nothing was done: bad input, wrong stack, missing permission, no credentials. */
  refused: 2,
  /** Ended by Ctrl-C; what was done stays done, and it can be run again. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** One line. Control characters that JSON lets stand are escaped too: a terminal would obey them. */
export function printJson(io: Io, value: unknown): void {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  io.out(`${JSON.stringify(value).replace(/\p{Cc}/gu, escaped)}\n`)
}
