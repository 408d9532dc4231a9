import type { Part } from './part.ts'

/** The parts in the order in which they run. Loaded only in the process that runs them. */
export const PARTS: Readonly<Record<string, () => Promise<Part>>> = {
  relay: async () => (await import('./relay.ts')).measureRelay,
  consumer: async () => (await import('./consumer.ts')).measureConsumer,
}
