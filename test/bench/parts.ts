import type { Part } from './part.ts'

/** The parts in the order in which they run. Loaded only in the process that runs them. */
export const PARTS: Readonly<Record<string, () => Promise<Part>>> = {
  relay: async () => (await import('./relay.ts')).measureRelay,
  consumer: async () => (await import('./consumer.ts')).measureConsumer,
  sweep: async () => (await import('./sweep.ts')).measureSweep,
  cost: async () => (await import('./cost.ts')).measureCost,
  'end-to-end': async () => (await import('./end-to-end.ts')).measureEndToEnd,
  growth: async () => (await import('./growth.ts')).measureGrowth,
}
