import assert from 'node:assert/strict'
import type { Finding } from '../../../src/ops/deployment.ts'
import { runOutbox } from '../command.ts'
import { type Deployed, deployedAs, findDeployed } from '../deployed.ts'
import { drift, NAMED, restoreByHand, setByOperator } from '../drifts.ts'
import { eventually } from '../eventually.ts'
import type { Sample } from '../sample.ts'
import type { Step } from '../step.ts'

type Report = {
  readonly findings: readonly Finding[]
  readonly mendings: readonly { readonly outcome: string; readonly wrong: string }[]
}

const doctor = (...argv: readonly string[]) => runOutbox<Report>('doctor', ...argv)
const words = ({ resource, wrong }: Finding) => `${resource} ${wrong}`

/** What an emulator that sets no time to live is told at first. */
const NO_EXPIRY = / deletes nothing$/

export const doctorClean = (): Step => ({
  title: 'dynamodb-outbox doctor, which finds the sample by its parameters, has nothing to say',
  differs: { how: 'time to live is set by doctor --fix first', tests: ['test/ops/check-deployment.test.ts'] },
  run: async ({ target }) => {
    await eventually('the first sweep', async () => {
      const { findings } = (await doctor()).json
      return !findings.some(({ wrong }) => wrong === 'has never run here')
    })
    const first = await doctor()
    const unexpected = first.json.findings.map(words).filter((text) => !(target.isEmulator && NO_EXPIRY.test(text)))
    assert.deepEqual(unexpected, [])
    if (first.json.findings.length > 0) await doctor('--fix', '--yes')
    assert.deepEqual(await doctor(), { code: 0, json: { findings: [], mendings: [] } })
    return undefined
  },
})

export const driftsMended = (sample: Sample): Step => ({
  title: 'twelve drifts are each named; --fix --yes mends what can be, and touches nothing else',
  run: async (world) => {
    const deployed: Deployed = await findDeployed(sample)
    await setByOperator(world, deployed)
    const before = await deployedAs(world, deployed)
    const alarm = await drift(world, deployed)
    const drifted = await deployedAs(world, deployed)

    const named = await doctor()
    assert.equal(named.code, 1)
    const texts = named.json.findings.map(words)
    for (const one of NAMED)
      assert.equal(texts.filter((text) => one.test(text)).length, 1, `${one} in ${texts.join('\n')}`)
    assert.equal(texts.length, NAMED.length, texts.join('\n'))
    assert.deepEqual(await deployedAs(world, deployed), drifted, 'doctor alone changes nothing')

    const fixed = await doctor('--fix', '--yes')
    assert.deepEqual(
      fixed.json.mendings.filter(({ outcome }) => outcome !== 'mended'),
      [],
    )
    assert.equal(fixed.code, 1, 'an alarm and a variable are mended by a deployment')
    await restoreByHand(world, deployed, alarm)
    assert.deepEqual(await deployedAs(world, deployed), before, 'all else is as it was')
    assert.deepEqual((await doctor()).json.findings.map(words), [])
    return `${NAMED.length} named, ${fixed.json.mendings.length} mended in place`
  },
})
