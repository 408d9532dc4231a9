import { required } from '../../src/settings.ts'
import { consumerFromEnvironment } from '../runtime/consumer-options.ts'
import { createShopConsumer } from './shop-consumer.ts'
import { SHOP_TABLE } from './shop-table.ts'
import { createTableMailer } from './table-mailer.ts'

const { parts, documentClient, instrument } = consumerFromEnvironment('shop')
const shopTable = required(process.env, SHOP_TABLE)
const mailer = createTableMailer({ documentClient, shopTable, now: Date.now })

/** On the FIFO queue of the orders. */
export const handler = instrument(createShopConsumer({ ...parts, shopTable, mailer, now: Date.now }))
