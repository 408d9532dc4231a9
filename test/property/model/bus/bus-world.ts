import { createEventBridgePublisher } from '../../../../src/relay/event-bridge-publisher.ts'
import type { RowImage } from '../../../../src/relay/row-image.ts'
import { createFakeEventBridge, type Fault } from '../../../support/fake-event-bridge.ts'
import { keyOfRow, stateOf, unorderedRow } from '../../../support/outbox-rows.ts'
import { createRelayWorld } from '../../../support/relay-world.ts'

export type BusStep =
  /** Rows are committed, and the relay hears of them. Some have content that no bus takes, some an entry too large for one. */
  | { readonly do: 'commit'; readonly rows: readonly Content[] }
  | { readonly do: 'delete-bus' | 'create-bus' | 'sweep' }
  /** So many entries are refused one by one, with the code in a 200. */
  | { readonly do: 'refuse-entries'; readonly count: number; readonly fault: Fault }
  /** So many requests are refused as a whole. */
  | { readonly do: 'fail-requests'; readonly count: number; readonly fault: Fault }
  | { readonly do: 'wait'; readonly seconds: number }

/** `hopeless`: EventBridge refuses the entry; `toxic`: it refuses the whole request that the entry is in. */
export type Content = 'good' | 'hopeless' | 'toxic'

const BUS = 'orders'
/** What is sent within a minute of somebody's deleting the bus can be lost: EventBridge answers 200. */
const UNSEEN_MS = 60_000
const TOXIC = 'toxic'

/** The relay before a bus that comes and goes, and what is wrong with how they fared. */
export function createBusWorld() {
  const bridge = createFakeEventBridge(BUS)
  const world = createRelayWorld({
    routes: (_, clock) => [{ to: createEventBridgePublisher({ client: bridge.client, busName: BUS, clock }) }],
  })
  const { clock, store } = world
  const contents = new Map<string, Content>()
  const breaches = new Set<string>()
  /** Keys of rows that were sent within the minute in which nobody can know that the bus is gone. */
  const unseen = new Set<string>()
  let goneSince: number | undefined
  let entriesLeft = 0
  let requestsLeft = 0
  let entryFault: Fault | undefined
  let requestFault: Fault | undefined
  let rows = 0

  bridge.refuseEntry = ({ Detail = '' }) => {
    if (Detail.startsWith('[')) return { code: 'MalformedDetail', message: 'Detail is malformed.' }
    entriesLeft -= 1
    return entriesLeft >= 0 ? entryFault : undefined
  }
  bridge.failRequest = (action) => {
    const entries = bridge.requests.at(-1)?.entries ?? []
    if (action === 'PutEvents') noteSend(entries.map(({ Detail = '' }) => Detail))
    requestsLeft -= 1
    if (requestsLeft >= 0) return requestFault
    const isToxic = entries.some(({ Detail = '' }) => Detail.includes(TOXIC))
    return isToxic
      ? { code: 'ValidationException', message: 'Total size of the entries is over the limit.' }
      : undefined
  }
  const noteSend = (bodies: readonly string[]): void => {
    if (goneSince === undefined) return
    if (clock.now() - goneSince > UNSEEN_MS) breaches.add('sent to a bus that has been gone for over a minute')
    for (const body of bodies) unseen.add(body)
  }

  const commit = (given: readonly Content[]): Promise<unknown> => {
    const images = given.map((content) => {
      rows += 1
      const key = `${content}-${rows}`
      contents.set(`K#shop/${key}`, content)
      return unorderedRow(key, { body: BODIES[content](key), created: clock.now() })
    })
    return world.relay(images)
  }

  const play = async (step: BusStep): Promise<void> => {
    switch (step.do) {
      case 'commit':
        await commit(step.rows)
        break
      case 'delete-bus':
        if (bridge.buses.delete(BUS)) goneSince = clock.now()
        break
      case 'create-bus':
        bridge.buses.add(BUS)
        goneSince = undefined
        break
      case 'sweep':
        await world.sweep()
        break
      case 'refuse-entries':
        entriesLeft = step.count
        entryFault = step.fault
        break
      case 'fail-requests':
        requestsLeft = step.count
        requestFault = step.fault
        break
      case 'wait':
        await clock.advance(step.seconds * 1000)
    }
    check()
  }

  /** Holds at any moment. */
  const check = (): void => {
    for (const image of store.all()) {
      const content = contents.get(keyOfRow(image).pk)
      if (content === undefined) continue
      const state = stateOf(image)
      if (state === 'dead' && content === 'good') breaches.add('a row that the bus would take is dead')
      if (state === 'relayed' && !isDelivered(image)) breaches.add('a row counts as relayed that the bus has not')
    }
  }
  const isDelivered = (image: RowImage): boolean => {
    const body = image['body']?.S ?? ''
    return unseen.has(body) || bridge.delivered.some(({ detail }) => JSON.stringify(detail) === body)
  }

  /** The bus is there and nothing fails any more: one sweep of what is due must settle every row. */
  const end = async (): Promise<void> => {
    await clock.advance(180_000)
    entriesLeft = 0
    requestsLeft = 0
    // Looked for in vain just before it is created: it must be found all the same.
    await play({ do: 'sweep' })
    await play({ do: 'create-bus' })
    await play({ do: 'sweep' })
    for (const image of store.all()) {
      const content = contents.get(keyOfRow(image).pk)
      if (content === undefined) continue
      const wanted = content === 'good' ? 'relayed' : 'dead'
      // Sent into the void within that minute, it cannot be told apart.
      if (stateOf(image) !== wanted && !unseen.has(image['body']?.S ?? ''))
        breaches.add(`a ${content} row is ${stateOf(image)} in the end`)
    }
  }
  return { play, end, breaches }
}

const BODIES: Readonly<Record<Content, (key: string) => string>> = {
  good: (key) => JSON.stringify({ key }),
  hopeless: (key) => JSON.stringify([key]),
  toxic: (key) => JSON.stringify({ key, what: TOXIC }),
}
