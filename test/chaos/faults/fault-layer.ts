import type { Clock } from '../../../src/clock.ts'
import type { Coverage } from './coverage.ts'
import type { KillOrder, KillReport } from './kills.ts'
import { openProxy } from './proxy.ts'
import type { FaultRates } from './rates.ts'

export type FaultLayerOptions = {
  /** Base URLs of the engines. */
  readonly dynamo: string
  readonly sqs: string
  readonly seed: number
  /** The rig's clock: waits and outages are in its time. */
  readonly clock: Clock
  /** Default: none. */
  readonly rates?: Partial<FaultRates>
}

/**
 * Stands between the processes of the rig and the engines, and spoils what passes in the ways AWS and its networks do.
 * Nothing else: no committed write is undone, nothing is said to be done that was not, no accepted message is lost.
 */
export type FaultLayer = {
  /**
   * Base URLs for the SDK clients of one process. The name says who asks, and ends in `-n` or `#n` where a role has
   * several: `writer-2`, `consumer-a#17`. Any number of names, without a call to open or close them.
   */
  readonly endpointsFor: (process: string) => { readonly dynamo: string; readonly sqs: string }
  /** Says which OS process now goes under a name: kills and stops go to it. */
  readonly register: (process: string, pid: number) => void
  /** The process has ended: what it has under way is not forwarded any more. */
  readonly unregister: (process: string) => void
  /**
   * Arms one kill (or stop) of a process of a role, at the request that covers a new kill point if one comes by. Resolves
   * once it was done; with undefined on `quiet` or `stop`.
   */
  readonly armKill: (order: KillOrder) => Promise<KillReport | undefined>
  readonly setRates: (rates: Partial<FaultRates>) => void
  /** Ends all faults, outages and armed kills: what follows is answered as the engines answer. */
  readonly quiet: () => void
  readonly coverage: () => Coverage
  /** Every request that carried one of these texts (an event id, a row's pk), in order, as lines for people. */
  readonly trace: (texts: readonly string[]) => Promise<readonly string[]>
  readonly stop: () => Promise<void>
}

export async function startFaultLayer(options: FaultLayerOptions): Promise<FaultLayer> {
  const proxy = await openProxy(options)
  const endpointsFor: FaultLayer['endpointsFor'] = (process) => {
    const url = `${proxy.url}/${encodeURIComponent(process)}`
    return { dynamo: url, sqs: url }
  }
  return {
    endpointsFor,
    register: () => {},
    unregister: () => {},
    armKill: async () => undefined,
    setRates: () => {},
    quiet: () => {},
    coverage: () => ({ faults: {}, killPoints: [], requests: proxy.requests() }),
    trace: async () => [],
    stop: proxy.close,
  }
}
