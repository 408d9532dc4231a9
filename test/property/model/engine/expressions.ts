import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { addValues, compareValues, type Item, valueText } from './values.ts'

/** Names and values of one request: `#name`, `:value`, and the parameters of a statement in order. */
export type Bindings = {
  readonly names?: Readonly<Record<string, string>> | undefined
  readonly values?: Readonly<Record<string, AttributeValue>> | undefined
  readonly parameters?: readonly AttributeValue[] | undefined
}

export type Condition = (item: Item | undefined) => boolean
type Operand = (item: Item | undefined) => AttributeValue | undefined
export type Change = (item: Item) => Item

/** A text's tokens, one after the other. What this model does not know is an error, never a guess. */
export type Reader = {
  readonly peek: () => string | undefined
  readonly take: (expected?: string) => string
  /** True, and past it, if the next token is that word. */
  readonly skip: (word: string) => boolean
  readonly nextParameter: () => number
}

export function read(text: string): Reader {
  const tokens = text.match(/"[^"]*"|'[^']*'|[#:]?\w+|<>|<=|>=|\S/g) ?? []
  let at = 0
  let parameters = 0
  const is = (word: string): boolean => tokens[at]?.toUpperCase() === word
  return {
    peek: () => tokens[at],
    take: (expected) => {
      const token = tokens[at++] ?? ''
      if (expected !== undefined && token.toUpperCase() !== expected) throw new Error(`${expected} expected: ${text}`)
      return token
    },
    skip: (word) => {
      if (!is(word)) return false
      at += 1
      return true
    },
    nextParameter: () => parameters++,
  }
}

/** `a = :b AND (attribute_not_exists(c) OR d IS MISSING)`, of either language. */
export function readCondition(reader: Reader, bindings: Bindings): Condition {
  const all = [readAnd(reader, bindings)]
  while (reader.skip('OR')) all.push(readAnd(reader, bindings))
  return (item) => all.some((one) => one(item))
}

function readAnd(reader: Reader, bindings: Bindings): Condition {
  const all = [readTerm(reader, bindings)]
  while (reader.skip('AND')) all.push(readTerm(reader, bindings))
  return (item) => all.every((one) => one(item))
}

function readTerm(reader: Reader, bindings: Bindings): Condition {
  if (reader.skip('(')) {
    const inner = readCondition(reader, bindings)
    reader.take(')')
    return inner
  }
  for (const [word, wanted] of [
    ['ATTRIBUTE_EXISTS', true],
    ['ATTRIBUTE_NOT_EXISTS', false],
  ] as const) {
    if (!reader.skip(word)) continue
    reader.take('(')
    const name = nameOf(reader.take(), bindings)
    reader.take(')')
    return (item) => (item?.[name] !== undefined) === wanted
  }
  return readComparison(reader, bindings)
}

function readComparison(reader: Reader, bindings: Bindings): Condition {
  const left = readOperand(reader, bindings)
  if (reader.skip('IS')) {
    const wanted = reader.skip('NOT')
    reader.take('MISSING')
    return (item) => (left(item) !== undefined) === wanted
  }
  if (reader.skip('BETWEEN')) {
    const low = readOperand(reader, bindings)
    reader.take('AND')
    const high = readOperand(reader, bindings)
    return (item) => order(left(item), low(item)) >= 0 && order(left(item), high(item)) <= 0
  }
  const operator = reader.take()
  const right = readOperand(reader, bindings)
  return (item) => COMPARISONS[operator]?.(left(item), right(item)) ?? fail(`operator ${operator}`)
}

type Comparison = (a: AttributeValue | undefined, b: AttributeValue | undefined) => boolean
const COMPARISONS: Readonly<Record<string, Comparison>> = {
  '=': (a, b) => a !== undefined && valueText(a) === valueText(b),
  '<>': (a, b) => valueText(a) !== valueText(b),
  '>': (a, b) => order(a, b) > 0,
  '<': (a, b) => order(a, b) < 0,
  '>=': (a, b) => order(a, b) >= 0,
  '<=': (a, b) => order(a, b) <= 0,
}

/** Not a number where there is no order: every comparison is then false. */
function order(a: AttributeValue | undefined, b: AttributeValue | undefined): number {
  return compareValues(a, b) ?? Number.NaN
}

function readOperand(reader: Reader, bindings: Bindings): Operand {
  const token = reader.take()
  if (token === '?') {
    const value = bindings.parameters?.[reader.nextParameter()] ?? fail('a parameter is missing')
    return () => value
  }
  if (/^\d+$/.test(token)) return () => ({ N: token })
  if (token.startsWith(':')) {
    const value = bindings.values?.[token] ?? fail(`no value ${token}`)
    return () => value
  }
  if (token === 'if_not_exists') {
    reader.take('(')
    const name = nameOf(reader.take(), bindings)
    reader.take(',')
    const other = readOperand(reader, bindings)
    reader.take(')')
    return (item) => item?.[name] ?? other(item)
  }
  const name = nameOf(token, bindings)
  return (item) => item?.[name]
}

/** `SET a = :b, … REMOVE c ADD d :e`, up to the end or a word that is none of its own. */
export function readUpdate(reader: Reader, bindings: Bindings): Change {
  const changes: Change[] = []
  for (;;) {
    if (reader.skip('SET')) changes.push(...readList(reader, () => readAssignment(reader, bindings)))
    else if (reader.skip('REMOVE')) changes.push(...readList(reader, () => removal(nameOf(reader.take(), bindings))))
    else if (reader.skip('ADD')) changes.push(...readList(reader, () => readAddition(reader, bindings)))
    else return (item) => changes.reduce((changed, change) => change(changed), item)
  }
}

function readList(reader: Reader, readOne: () => Change): Change[] {
  const all = [readOne()]
  while (reader.skip(',')) all.push(readOne())
  return all
}

function readAssignment(reader: Reader, bindings: Bindings): Change {
  const name = nameOf(reader.take(), bindings)
  reader.take('=')
  const value = readOperand(reader, bindings)
  return (item) => ({ ...item, [name]: value(item) ?? fail(`nothing to assign to ${name}`) })
}

function readAddition(reader: Reader, bindings: Bindings): Change {
  const name = nameOf(reader.take(), bindings)
  const value = readOperand(reader, bindings)
  return (item) => ({ ...item, [name]: addValues(item[name], value(item) ?? fail(`nothing to add to ${name}`)) })
}

function removal(name: string): Change {
  return ({ [name]: _, ...rest }) => rest
}

function nameOf(token: string, { names }: Bindings): string {
  if (token.startsWith('#')) return names?.[token] ?? fail(`no name ${token}`)
  return token.startsWith('"') ? token.slice(1, -1) : token
}

function fail(what: string): never {
  throw new Error(`The model of DynamoDB cannot read this: ${what}`)
}
