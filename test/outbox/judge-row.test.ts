import { describe, expect, it } from 'vitest'
import { judgeRow } from '../../src/outbox/judge-row.ts'

const wanted = { instance: 'ours', type: 't', dataText: '{"a":1,"b":2}' }
const row = (body: string, changes: object = {}) => ({ instance: 'theirs', type: 't', body, ...changes })

describe('judgeRow', () => {
  it.each([
    ['nothing', undefined, 'absent'],
    ['a row of this call', row('', { instance: 'ours' }), 'own'],
    ['equal data, its members in another order', row('{"data":{"b":2,"a":1}}'), 'equal'],
    ['AttributeValues', { instance: { S: 'x' }, type: { S: 't' }, body: { S: '{"data":{"a":1,"b":2}}' } }, 'equal'],
    ['other data', row('{"data":{"a":1}}'), 'different'],
    ['another type', row('{"data":{"a":1,"b":2}}', { type: 'u' }), 'different'],
    ['no data', row('{}'), 'different'],
    ['null', row('null'), 'different'],
    ['no JSON', row('{'), 'different'],
    ['a body nested too deep to compare', row(`{"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`), 'different'],
  ])('judges %s', (_, stored, standing) => {
    expect(judgeRow(stored, wanted)).toBe(standing)
  })
})
