import { required } from '../../src/settings.ts'
import { consumerFromEnvironment } from '../runtime/consumer-options.ts'
import { createShippingConsumer } from './shipping-consumer.ts'
import { SHOP_TABLE } from './shop-table.ts'

const { parts, instrument } = consumerFromEnvironment('shipping')
const shopTable = required(process.env, SHOP_TABLE)

/** On the standard queue to which a rule of the event bus brings reserved stock. */
export const handler = instrument(createShippingConsumer({ ...parts, shopTable, now: Date.now }))
