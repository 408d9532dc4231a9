import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { statementItems } from '../chaos/faults/item-keys.ts'
import { partialBatch } from '../chaos/faults/partial-batch.ts'
import { cutPage } from '../chaos/faults/partial-read.ts'
import { partialStatements } from '../chaos/faults/partial-statements.ts'
import { seededRandom } from '../demo/chance.ts'

type Listed = { readonly Id: string }

describe('A batch of SQS answered in part', () => {
  it('says that an entry was sent only if it went to the engine, and keeps the order of those that did', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 10 }), (seed, count) => {
        const Entries = Array.from({ length: count }, (_, n) => ({ Id: String(n) }))
        const { forwarded, merge } = partialBatch('SendMessageBatch', { Entries }, seededRandom(seed))
        const sent = (forwarded?.['Entries'] ?? []) as Listed[]
        const answer = merge({ Successful: sent, Failed: [] })
        const successful = answer['Successful'] as Listed[]
        const failed = answer['Failed'] as Listed[]
        expect(Entries.filter((entry) => sent.includes(entry))).toEqual(sent)
        expect(sent).toEqual(expect.arrayContaining(successful))
        expect(successful.length).toBeLessThan(count)
        expect(new Set([...successful, ...failed].map(({ Id }) => Id)).size).toBe(successful.length + failed.length)
      }),
    )
  })
})

describe('Statements answered in part', () => {
  it('have an answer each, a success only if it was applied', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 25 }), (seed, count) => {
        const Statements = Array.from({ length: count }, (_, n) => ({ n }))
        const { forwarded, merge } = partialStatements({ Statements }, seededRandom(seed))
        const applied = (forwarded?.['Statements'] ?? []) as { n: number }[]
        const { Responses } = merge({ Responses: applied.map(({ n }) => ({ n })) }) as {
          Responses: { n?: number; Error?: object }[]
        }
        expect(Responses).toHaveLength(count)
        for (const [n, response] of Responses.entries()) if (response.Error === undefined) expect(response.n).toBe(n)
        expect(Responses.some(({ Error: error }) => error !== undefined)).toBe(true)
      }),
    )
  })

  it('are known by the items they write', () => {
    const Statements = [
      {
        Statement: `INSERT INTO "ledger" VALUE {'pk': ?, 'sk': ?, 'token': ?}`,
        Parameters: [{ S: 'event' }, { S: 'main/apply' }, { S: 't' }],
      },
      {
        Statement: 'UPDATE "outbox" SET "expires" = ? REMOVE "shard" WHERE "pk" = ? AND "sk" = ? AND "shard" = ?',
        Parameters: [{ N: '1' }, { S: 'G#s/g' }, { S: '01' }, { S: 'p#1' }],
      },
    ]
    expect(statementItems({ input: () => ({ Statements }) })).toEqual(['ledger event main/apply', 'outbox G#s/g 01'])
  })
})

describe('A page that is cut', () => {
  it('holds the first items and the key to go on from', () => {
    const Items = Array.from({ length: 9 }, (_, n) => ({ pk: { S: 'a' }, sk: { S: String(n) }, body: { S: 'x' } }))
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const answer = cutPage({}, seededRandom(seed)).merge({ Items, Count: 9 }) as {
          Items: typeof Items
          LastEvaluatedKey?: object
        }
        expect(answer.Items).toEqual(Items.slice(0, answer.Items.length))
        expect(answer.Items.length).toBeGreaterThan(0)
        if (answer.Items.length < 9) {
          const { pk, sk } = answer.Items.at(-1) ?? {}
          expect(answer.LastEvaluatedKey).toEqual({ pk, sk })
        }
      }),
    )
  })
})
