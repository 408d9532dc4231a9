import type { RelayOptions } from '../../src/relay/index.ts'
import { readRelaySettings } from '../../src/settings.ts'
import { OUTBOX_SERVICE } from '../../src/telemetry.ts'
import { createDynamoClient } from './aws-clients.ts'
import { createInstruments, type Instruments } from './instruments.ts'
import { connectRoutes } from './routes.ts'

/** The same for relay and sweeper, made of the environment. Throws `INVALID_SETTING` at the function's start. */
export function relayFromEnvironment(): {
  readonly options: RelayOptions
  readonly instrument: Instruments['instrument']
} {
  const { routes, ...settings } = readRelaySettings(process.env)
  const { logger, telemetry, instrument } = createInstruments(OUTBOX_SERVICE, settings.tableName)
  const options = { ...settings, client: createDynamoClient(), routes: connectRoutes(routes), logger, telemetry }
  return { options, instrument }
}
