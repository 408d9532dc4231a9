/** What code of others may throw, and hand over. `SECRET` stands for data: it must be in no log line and no error of ours. */
export const SECRET = 'hunter2-4111111111111111'

/** Throws what names the secret. */
export function fail(): never {
  throw new Error(SECRET)
}

/** An object whose every member throws when it is read. */
export function untouchable(): object {
  return new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail, getOwnPropertyDescriptor: fail })
}

export function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const cyclic: { self?: unknown; message: string } = { message: SECRET }
cyclic.self = cyclic

/** An object that `await` takes for a promise. */
export function thenable(then: (ok: (value?: unknown) => void, no: (error?: unknown) => void) => void): object {
  return Object.defineProperty({}, 'then', { value: then })
}

/** Things that are thrown, by a name for the test's title. */
export const THROWN: ReadonlyArray<readonly [title: string, make: () => unknown]> = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['a text', () => SECRET],
  ['a number', () => Number.NaN],
  ['a bigint', () => 1n],
  ['a symbol', () => Symbol(SECRET)],
  ['a function', () => () => SECRET],
  ['an error', () => new Error(SECRET)],
  ['a frozen error', () => Object.freeze(new Error(SECRET))],
  ['a frozen object', () => Object.freeze({ message: SECRET })],
  ['an object without a prototype', () => Object.create(null)],
  ['a cyclic object', () => cyclic],
  ['an error that is its own cause', () => ownCause()],
  ['an error with a message of 4 MB', () => new Error(`${SECRET}${'😀'.repeat(1_000_000)}`)],
  ['an error with lone surrogates and control characters', () => new Error(`\ud800\u0000\u0007${SECRET}\udfff`)],
  ['an error named with data', () => Object.assign(new Error('x'), { name: `${SECRET} of bob@example.org` })],
  ['an error whose name is no text', () => Object.assign(new Error('x'), { name: { toString: () => SECRET } })],
  ['an error named after a member of every object', () => Object.assign(new Error('x'), { name: 'constructor' })],
  ['an error with getters that throw', () => withGetters()],
  ['an object that cannot be touched', untouchable],
  ['a revoked proxy', revoked],
  ['a toString that throws', () => ({ toString: fail })],
  ['a Symbol.toPrimitive that gives an object', () => ({ [Symbol.toPrimitive]: () => ({}) })],
  ['an array with holes', () => new Array(3)],
  ['an aggregate error', () => new AggregateError([new Error(SECRET), null], SECRET)],
  ['an imitation of an error of ours', () => ({ name: 'OutboxError', code: 'NO_SUCH_CODE', message: 5 })],
]

function ownCause(): Error {
  const error = new Error(SECRET)
  error.cause = error
  return error
}

function withGetters(): Error {
  const error = new Error('x')
  for (const member of ['name', 'message', 'code', 'cause', 'stack', '$metadata', 'CancellationReasons'])
    Object.defineProperty(error, member, { get: fail })
  return error
}

/** All that was logged, as one text. */
export function textOf(lines: readonly unknown[]): string {
  return JSON.stringify(lines, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))
}
