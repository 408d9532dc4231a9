import * as main from 'dynamodb-outbox'
import * as consumer from 'dynamodb-outbox/consumer'
import * as ops from 'dynamodb-outbox/ops'
import * as relay from 'dynamodb-outbox/relay'
import * as testing from 'dynamodb-outbox/testing'

console.log(main, consumer, ops, relay, testing, 'handled 1 event')
