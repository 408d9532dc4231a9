import { describe, expect, it } from 'vitest'
import { CASES, type Case, proves } from '../cases.ts'
import { reportCases } from './cases-report.ts'

const slow: Case = { id: 'slow-send', area: 'Sending', title: 'One slow send' }
const unit: Case = { id: 'ttl-unit', area: 'Dead letters and retention', title: 'Seconds | not ms' }
const pull: Case = { ...slow, id: 'pull-worker-last-claim', title: 'Pull', later: 'pull workers are not built yet' }

describe('reportCases', () => {
  it('names every passing test of a case in one order, whatever order they ran in', () => {
    const first = { file: 'test/a.test.ts', title: 'a < b', proves: [slow.id] }
    const second = { file: 'test/b.test.ts', title: 'b', proves: [slow.id, unit.id] }
    const report = reportCases([slow, unit], [second, first])
    expect(report).toEqual(reportCases([slow, unit], [first, second]))
    expect(report.markdown).toContain('| One slow send | a &lt; b (`test/a.test.ts`)<br>b (`test/b.test.ts`) |')
    expect(report.markdown).toContain('| Seconds \\| not ms | b (`test/b.test.ts`) |')
    expect(report.markdown).toContain('2 of 2 cases are proven.')
    expect(report.unproven).toEqual([])
  })

  it('finds a case that nothing proves, unless it is one for later', () => {
    const report = reportCases([slow, unit, pull], [])
    expect(report.unproven).toEqual([slow, unit])
    expect(report.markdown).toContain('| One slow send | **nothing** |')
    expect(report.markdown).toContain('| Pull | later: pull workers are not built yet |')
  })

  it('counts a case for later as proven once a test proves it', () => {
    const report = reportCases([pull], [{ file: 'test/pull.test.ts', title: 'dead-letters', proves: [pull.id] }])
    expect(report.markdown).toContain('| Pull | dead-letters (`test/pull.test.ts`) |')
  })
})

describe('proves', () => {
  it('makes test options that hand the case ids to reporters', () => {
    expect(proves('slow-send', 'ttl-unit')).toEqual({ meta: { proves: ['slow-send', 'ttl-unit'] } })
  })

  it('has no id twice', () => {
    expect(new Set(CASES.map(({ id }) => id)).size).toBe(CASES.length)
  })
})
