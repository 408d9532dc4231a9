import { describe, expect, it } from 'vitest'
import { parseEntry } from '../../src/ledger/entry.ts'

const row = {
  pk: 'e1',
  sk: 'shop/reserve',
  status: 'running',
  token: 't1',
  lease: 5,
  attempts: 2,
  due: 7,
  life: 1,
  expires: 9,
  failure: 'no stock',
}

describe('a row of the ledger', () => {
  it.each(['running', 'alone', 'failed', 'dead', 'done'])('is read as it was written: %s', (status) => {
    const { pk: id, sk: name, ...rest } = row
    expect(parseEntry({ ...row, status })).toEqual({ ...rest, id, name, status })
  })

  it('was never due where it does not say when, and has no reason before its first failure', () => {
    const { due, failure, ...young } = row
    const entry = parseEntry(young)
    expect(entry).toMatchObject({ due: 0 })
    expect(entry).not.toHaveProperty('failure')
    expect(parseEntry({ ...row, failure: 7 })).not.toHaveProperty('failure')
  })

  it.each([
    ['without an id', { pk: undefined }],
    ['with an empty id', { pk: '' }],
    ['without a handler', { sk: undefined }],
    ['with an empty handler', { sk: '' }],
    ['without a token', { token: undefined }],
    ['with a token that is a number', { token: 1 }],
    ['with an empty token', { token: '' }],
    ['of a status that nobody knows', { status: 'paused' }],
    ['without a lease', { lease: undefined }],
    ['with attempts that are text', { attempts: '2' }],
    ['with a due that is text', { due: '7' }],
    ['with a life that is no number', { life: Number.NaN }],
    ['without an expiry', { expires: undefined }],
    ['that never expires', { expires: Number.POSITIVE_INFINITY }],
  ])('is not ours to touch: one %s', (_, fields) => {
    expect(parseEntry({ ...row, ...fields })).toBeUndefined()
  })
})
