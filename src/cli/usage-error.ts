/** Input of a person that cannot be meant: printed as one line, exit code 2. */
export function usageError(message: string): Error {
  return Object.assign(new Error(message), { name: 'UsageError' })
}
