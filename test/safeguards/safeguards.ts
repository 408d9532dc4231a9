import { CONSUMER_SAFEGUARDS } from './consumer-safeguards.ts'
import { RELAY_SAFEGUARDS } from './relay-safeguards.ts'
import type { Safeguard } from './safeguard.ts'

export const SAFEGUARDS: readonly Safeguard[] = [...CONSUMER_SAFEGUARDS, ...RELAY_SAFEGUARDS]
