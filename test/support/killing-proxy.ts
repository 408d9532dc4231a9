import { connectEngines } from '../chaos/faults/forward.ts'
import { openProxy } from '../chaos/faults/proxy.ts'

export type KillPoint = {
  /** Which request of the process, counted from 1. */
  readonly request: number
  /** Before the engine hears of it, or after it has done it and before the process hears of that. */
  readonly moment: 'before' | 'after'
}

/** Both engines behind one address, where whoever asks dies at a request named beforehand. */
export async function openKillingProxy(urls: { readonly dynamo: string; readonly sqs: string }) {
  const engines = connectEngines(urls)
  let asked = 0
  let armed: (KillPoint & { readonly kill: () => void }) | undefined
  const proxy = await openProxy(async (request, headers) => {
    asked += 1
    const fatal = asked === armed?.request ? armed : undefined
    if (fatal?.moment === 'before') {
      fatal.kill()
      return {}
    }
    const answer = await engines.forward(request, headers)
    if (fatal === undefined) return { answer }
    fatal.kill()
    return {}
  })
  return {
    /** For one process after another; the path is there for whoever takes the whole URL for an endpoint. */
    url: `${proxy.url}/command`,
    /** Counts anew; without a kill, nobody dies. */
    arm: (point: KillPoint | undefined, kill: () => void = () => {}): void => {
      asked = 0
      armed = point && { ...point, kill }
    },
    asked: () => asked,
    close: async (): Promise<void> => {
      engines.close()
      await proxy.close()
    },
  }
}
