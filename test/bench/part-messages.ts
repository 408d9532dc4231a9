import type { Figure } from './figure.ts'

/** What the process of a part sends: what it is doing, and at its end its figures. */
export type FromPart = { readonly say: string } | { readonly figures: readonly Figure[] }

/** Resolves once it is sent. */
export function toParent(message: FromPart): Promise<void> {
  return new Promise((resolve, reject) => {
    if (process.send === undefined) throw new Error('run it with: npm run bench')
    process.send(message, (error: Error | null) => (error === null ? resolve() : reject(error)))
  })
}
