import { createSweeper } from '../src/relay/index.ts'
import { relayFromEnvironment } from './runtime/relay-options.ts'

const { options, instrument } = relayFromEnvironment()

/** Each minute: sends what the stream path has missed, and measures what is pending and dead. */
export const handler = instrument(createSweeper(options))
