import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { defineEvent, schemaOf, validateData } from '../../src/event/define-event.ts'
import type { NewEvent } from '../../src/event/event.ts'
import type { StandardSchema } from '../../src/event/standard-schema.ts'

const OrderPlaced = defineEvent({
  type: 'order.placed',
  schema: v.object({
    total: v.number(),
    items: v.array(v.object({ sku: v.string() })),
    at: v.pipe(
      v.string(),
      v.transform((text) => new Date(text)),
    ),
  }),
})

describe('defineEvent', () => {
  it('types the data of new events by the input and of handled ones by the output of the schema', async () => {
    const event = OrderPlaced.create({ source: 'shop', key: 'o-1', data: { total: 1, items: [], at: '2026-01-31' } })
    expectTypeOf(event.type).toEqualTypeOf<'order.placed'>()
    expectTypeOf(event).toExtend<NewEvent>()
    // @ts-expect-error total is missing
    OrderPlaced.create({ source: 'shop', key: 'o-1', data: { items: [], at: '' } })
    const validation = await validateData(OrderPlaced, event.data)
    if (!validation.ok) throw new Error('valid data expected')
    expectTypeOf(validation.value.at).toEqualTypeOf<Date>()
    expect(validation.value.at).toEqual(new Date('2026-01-31'))
  })

  it('makes an event whose schema survives a spread and is no member of it', () => {
    const event = OrderPlaced.create({
      source: 'shop',
      group: 'o',
      sequence: 'auto',
      data: { total: 1, items: [], at: '' },
    })
    expect(Object.keys(event).sort()).toEqual(['data', 'group', 'sequence', 'source', 'type'])
    expect(schemaOf({ ...event })).toBe(OrderPlaced.schema)
    expect(schemaOf({ source: 'shop' })).toBeUndefined()
  })

  it('is understood by another copy of the package', () => {
    const event = OrderPlaced.create({ source: 'shop', key: 'o', data: { total: 1, items: [], at: '' } })
    expect(Reflect.get(event, Symbol.for('dynamodb-outbox.schema'))).toBe(OrderPlaced.schema)
  })

  it('refuses what is no definition', () => {
    const refusal = (definition: object) => () => defineEvent(definition as never)
    expect(refusal({ type: 't', schema: v.any(), name: 'x' })).toThrow('defineEvent: "name" is not an option')
    for (const schema of [undefined, {}, { '~standard': {} }]) {
      expect(refusal({ type: 't', schema })).toThrow('schema must be a Standard Schema')
    }
  })

  it('refuses a type that breaks the grammar', () => {
    expect(() => defineEvent({ type: 'order placed', schema: v.any() })).toThrow('type must be 1–128')
  })
})

describe('validateData', () => {
  it('names where data does not fit, never what it is', async () => {
    const data = { total: 'secret', items: [{ sku: 'a' }, { sku: 7 }], at: 'x' }
    expect(await validateData(OrderPlaced, data)).toEqual({ ok: false, paths: ['data.total', 'data.items[1].sku'] })
  })

  it('names five places at most', async () => {
    const schema = v.array(v.number())
    const validation = await validateData(
      { schema },
      Array.from({ length: 9 }, () => 'x'),
    )
    expect(validation).toEqual({ ok: false, paths: [0, 1, 2, 3, 4].map((n) => `data[${n}]`) })
  })

  it('names a place by bare keys too, and by symbols', async () => {
    const issues = [{ message: '', path: ['lines', 0, 'unit price', Symbol('s')] }]
    const schema: StandardSchema = { '~standard': { version: 1, vendor: 'test', validate: () => ({ issues }) } }
    expect(await validateData({ schema }, 1)).toEqual({
      ok: false,
      paths: ['data.lines[0]["unit price"]["Symbol(s)"]'],
    })
  })

  it('waits for an asynchronous schema', async () => {
    const schema = v.pipeAsync(
      v.number(),
      v.checkAsync(async (value) => value > 1),
    )
    expect(await validateData({ schema }, 2)).toEqual({ ok: true, value: 2 })
    expect(await validateData({ schema }, 1)).toEqual({ ok: false, paths: ['data'] })
  })

  it('rejects when the schema itself throws: that is no verdict on the data', async () => {
    const validate = () => {
      throw new Error('no database')
    }
    const schema: StandardSchema = { '~standard': { version: 1, vendor: 'test', validate } }
    await expect(validateData({ schema }, 1)).rejects.toThrow('no database')
  })
})
