const main = require('dynamodb-outbox')
const consumer = require('dynamodb-outbox/consumer')
const ops = require('dynamodb-outbox/ops')
const relay = require('dynamodb-outbox/relay')
const testing = require('dynamodb-outbox/testing')

console.log(main, consumer, ops, relay, testing, 'handled 1 event')
