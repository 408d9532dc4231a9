import { DescribeEventBusCommand, type EventBridgeClient } from '@aws-sdk/client-eventbridge'
import type { Clock } from '../clock.ts'
import { errorName } from '../errors.ts'

/** A bus that was seen is taken to be there for this long. Milliseconds. */
const LOOK_AGE_MS = 60_000

/** Undefined if the bus is there; else why nothing may be sent. Never rejects. */
export type BusLook = () => Promise<string | undefined>

/**
 * EventBridge answers 200 for a bus that does not exist, and drops the event: so the bus is looked at before anything is
 * sent, unless it was seen within the last minute (counted from the start of that look). What can be lost is what is sent
 * in the minute after somebody deleted the bus. Requests that begin together share one look. Only a bus that was seen is
 * remembered, so that one that is created late is found at once.
 */
export function createBusLook(client: EventBridgeClient, busName: string, clock: Clock): BusLook {
  let last: { readonly at: number; readonly answer: Promise<string | undefined> } | undefined
  const look = async (): Promise<string | undefined> => {
    try {
      await client.send(new DescribeEventBusCommand({ Name: busName }))
      return undefined
    } catch (error) {
      last = undefined
      return `the bus cannot be seen: ${errorName(error)}`
    }
  }
  return () => {
    const now = clock.now()
    if (last === undefined || now - last.at >= LOOK_AGE_MS) last = { at: now, answer: look() }
    return last.answer
  }
}
