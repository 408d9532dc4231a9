import type { Part } from './part.ts'

/** The parts in the order in which they run. Loaded only in the process that runs them. */
export const PARTS: Readonly<Record<string, () => Promise<Part>>> = {
  relay: async () => (await import('./relay.ts')).measureRelay,
  consumer: async () => (await import('./consumer.ts')).measureConsumer,
  enqueue: async () => (await import('./enqueue.ts')).measureEnqueue,
  sweep: async () => (await import('./sweep.ts')).measureSweep,
  'cold-start': async () => (await import('./cold-start.ts')).measureColdStart,
  memory: async () => (await import('./memory.ts')).measureMemory,
  cost: async () => (await import('./cost.ts')).measureCost,
  'end-to-end': async () => (await import('./end-to-end.ts')).measureEndToEnd,
  growth: async () => (await import('./growth.ts')).measureGrowth,
}
