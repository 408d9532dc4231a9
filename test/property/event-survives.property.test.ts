import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalJson, sameJson } from '../../src/event/canonical.ts'
import { decodeBody, encodeBody } from '../../src/event/codec.ts'
import type { NewEvent } from '../../src/event/event.ts'
import { eventId, eventKey } from '../../src/event/identity.ts'
import { jsonText } from '../../src/event/json-data.ts'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { createTables } from '../../src/outbox/dynamo-create-tables.ts'
import { createSession } from '../../src/outbox/dynamo-session.ts'
import { rowKey } from '../../src/outbox/row.ts'
import { proves } from '../cases.ts'
import { anyText, data, event, json } from '../support/any-event.ts'
import { testClock } from '../support/clock.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'
import { runs } from './runs.ts'

let dynamo: TestDynamo
beforeAll(async () => {
  dynamo = await startDynamo()
})
afterAll(() => dynamo.stop())

describe('an event', () => {
  it(
    'survives store and read, every field and all of Unicode',
    proves('every-field-survives', 'odd-characters', 'empty-payload'),
    async () => {
      const tableName = dynamo.tableName('outbox')
      await createTables({ client: dynamo.client, outboxTable: tableName })
      const clock = testClock()
      const documentClient = DynamoDBDocumentClient.from(dynamo.client)
      const outboxes = [
        createOutbox({ client: dynamo.client, tableName, clock }),
        createOutbox({ documentClient, tableName, clock }),
      ]
      const session = createSession({ client: dynamo.client })
      await fc.assert(
        fc.asyncProperty(event, fc.constantFrom(...outboxes), async (given, outbox) => {
          const { identity: who, ...rest } = given
          const life = clock.now()
          const outcome = await outbox.commit({
            writes: [],
            events: [{ ...rest, ...who } as NewEvent],
            onExisting: 'cancel',
          })
          // A short name can come twice.
          if (outcome.status === 'conflict' || outcome.status === 'duplicate') return
          expect(outcome).toMatchObject({ status: 'committed', events: [{ id: eventId(who), inserted: true }] })
          const row = await session.readRow(tableName, rowKey(who))
          const body = (row as { readonly body: { readonly S: string } }).body.S
          expect(body).toMatch(/^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u)
          expect(decodeBody(body)).toEqual({
            ok: true,
            own: true,
            event: {
              ...rest,
              data: JSON.parse(JSON.stringify(given.data)),
              ...who,
              id: eventId(who),
              key: eventKey(who),
              life,
            },
          })
        }),
        runs(150),
      )
    },
  )

  it('decodes to what was encoded', proves('every-field-survives'), () => {
    fc.assert(
      fc.property(event, fc.nat(), (given, life) => {
        const { identity: who, data: value, ...rest } = given
        const decoded = decodeBody(encodeBody({ ...rest, identity: who, dataText: jsonText(value, 'data'), life }))
        expect(decoded).toMatchObject({ ok: true, own: true, event: { ...who, ...rest, life, key: eventKey(who) } })
      }),
      runs(500),
    )
  })
})

describe('jsonText', () => {
  it('writes any JSON value as JSON.stringify does', proves('json-semantics'), () => {
    fc.assert(
      fc.property(data, (value) => jsonText(value, 'data') === JSON.stringify(value)),
      runs(1000),
    )
  })
})

describe('canonicalJson', () => {
  it('does not depend on the order of members, and tells different values apart', () => {
    const reverse = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reverse)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, reverse(member)]),
      )
    }
    fc.assert(
      fc.property(json, (value) => sameJson(value, reverse(value))),
      runs(100),
    )
    fc.assert(
      fc.property(json, (value) => canonicalJson(JSON.parse(canonicalJson(value))) === canonicalJson(value)),
      runs(100),
    )
    fc.assert(
      fc.property(json, (value) => !sameJson(value, [value])),
      runs(100),
    )
  })
})

describe('decodeBody', () => {
  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyText,
          json.map((value) => JSON.stringify(value)),
        ),
        (text) => typeof decodeBody(text).ok === 'boolean',
      ),
      runs(100),
    )
    const attributes = fc.dictionary(
      fc.constantFrom('specversion', 'id', 'source', 'type', 'subject', 'life', 'data'),
      fc.oneof(fc.constant('1.0'), json),
    )
    fc.assert(
      fc.property(attributes, (body) => typeof decodeBody(JSON.stringify(body)).ok === 'boolean'),
      runs(100),
    )
  })
})
