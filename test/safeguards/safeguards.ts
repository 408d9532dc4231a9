import { CONSUMER_SAFEGUARDS } from './consumer-safeguards.ts'
import { EVENT_BRIDGE_SAFEGUARDS } from './event-bridge-safeguards.ts'
import { OPS_SAFEGUARDS } from './ops-safeguards.ts'
import { OUTBOX_SAFEGUARDS } from './outbox-safeguards.ts'
import { PULL_SAFEGUARDS } from './pull-safeguards.ts'
import { RELAY_SAFEGUARDS } from './relay-safeguards.ts'
import type { Safeguard } from './safeguard.ts'

export const SAFEGUARDS: readonly Safeguard[] = [
  ...OUTBOX_SAFEGUARDS,
  ...RELAY_SAFEGUARDS,
  ...EVENT_BRIDGE_SAFEGUARDS,
  ...CONSUMER_SAFEGUARDS,
  ...OPS_SAFEGUARDS,
  ...PULL_SAFEGUARDS,
]
