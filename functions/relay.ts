import { createRelay } from '../src/relay/index.ts'
import { relayFromEnvironment } from './runtime/relay-options.ts'

const { options, instrument } = relayFromEnvironment()

/** On the outbox table's stream: sends what was just written. */
export const handler = instrument(createRelay(options))
