import { checkOptions } from '../settings.ts'
import type { NewEvent } from './event.ts'
import { checkName, invalidEvent } from './grammar.ts'
import { memberPath } from './json-data.ts'
import type { SchemaInput, SchemaIssue, SchemaOutput, StandardSchema } from './standard-schema.ts'

/** A type of event with a schema for its data: one definition for the side that writes and the side that handles. */
export type EventDefinition<Input = unknown, Output = Input, Type extends string = string> = {
  readonly type: Type
  readonly schema: StandardSchema<Input, Output>
  /** A new event of this type. Its data is validated when it is enqueued, as the JSON value that the handler will get. */
  readonly create: (event: EventFields<NewEvent<Input, Type>>) => NewEvent<Input, Type>
}

/** `Omit` that keeps the two forms of an event apart. */
type EventFields<Event> = Event extends unknown ? Omit<Event, 'type'> : never

/** The schema travels with the event under this symbol, which survives a spread and is no member of the event. */
const SCHEMA = Symbol.for('dynamodb-outbox.schema')

/**
 * Defines a type of event. `schema` is any Standard Schema (Valibot, Zod, ArkType …), sync or async. What is stored is the
 * JSON value of the data as given, never what the schema makes of it; the handler gets what the schema makes of that.
 */
export function defineEvent<const Type extends string, Schema extends StandardSchema>(definition: {
  readonly type: Type
  readonly schema: Schema
}): EventDefinition<SchemaInput<Schema>, SchemaOutput<Schema>, Type> {
  checkOptions('defineEvent', definition, ['type', 'schema'])
  const { type, schema } = definition
  checkName('type', type)
  if (typeof schema?.['~standard']?.validate !== 'function')
    throw invalidEvent('schema', 'must be a Standard Schema, as Valibot, Zod from 3.24 and ArkType from 2 make them')
  return {
    type,
    schema,
    create: (event) => Object.assign({}, event, { type, [SCHEMA]: schema }) as NewEvent<SchemaInput<Schema>, Type>,
  }
}

/** The schema of an event made by a definition. */
export function schemaOf(event: object): StandardSchema | undefined {
  return (event as { readonly [SCHEMA]?: StandardSchema })[SCHEMA]
}

/** A value the schema took, or where it did not: at most five paths such as `data.items[3].total`, never a value. */
export type Validation<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly paths: readonly string[] }

const MAX_PATHS = 5

/** Validates data by a schema (or a definition's). Rejects only if the schema itself throws. */
export async function validateData<Output>(
  { schema }: { readonly schema: StandardSchema<unknown, Output> },
  data: unknown,
): Promise<Validation<Output>> {
  const result = await schema['~standard'].validate(data)
  if (result.issues === undefined) return { ok: true, value: result.value }
  const paths = new Set(result.issues.map(issuePath))
  return { ok: false, paths: [...paths].slice(0, MAX_PATHS) }
}

function issuePath({ path = [] }: SchemaIssue): string {
  return path.reduce<string>((text, segment) => {
    const key = typeof segment === 'object' ? segment.key : segment
    return typeof key === 'number' ? `${text}[${key}]` : memberPath(text, String(key))
  }, 'data')
}
