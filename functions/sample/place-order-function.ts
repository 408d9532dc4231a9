import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createOutbox } from '../../src/index.ts'
import { required, VARIABLES } from '../../src/settings.ts'
import { createDynamoClient } from '../runtime/aws-clients.ts'
import { createInstruments } from '../runtime/instruments.ts'
import { createPlaceOrder } from './place-order.ts'
import { SHOP_TABLE } from './shop-table.ts'

const outboxTable = required(process.env, VARIABLES.outboxTable)
const shopTable = required(process.env, SHOP_TABLE)
const outbox = createOutbox({
  documentClient: DynamoDBDocumentClient.from(createDynamoClient()),
  tableName: outboxTable,
})

/** Invoked with an order; answers whether it was placed now or had been before. */
export const handler = createInstruments('place-order', outboxTable).instrument(createPlaceOrder({ outbox, shopTable }))
