import { expect, it } from 'vitest'
import { readAlsoCaught } from './also-caught.ts'
import { SAFEGUARDS } from './safeguards.ts'

it('each safeguard, and nothing else, is on record as caught by the model or the fault rig too', async () => {
  const recorded = await readAlsoCaught()
  expect([...recorded.keys()].toSorted()).toEqual(SAFEGUARDS.map(({ name }) => name).toSorted())
  for (const { by, how } of recorded.values()) {
    expect(['model', 'rig']).toContain(by)
    expect(how).not.toBe('')
  }
})
