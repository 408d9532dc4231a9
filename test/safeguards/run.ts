import { parseArgs } from 'node:util'
import { type AlsoCaught, readAlsoCaught, writeAlsoCaught } from './also-caught.ts'
import { caughtByModel, checkModel } from './by-model.ts'
import { caughtByRig } from './by-rig.ts'
import { failingUnpatched, verdictByTest } from './by-test.ts'
import type { Safeguard } from './safeguard.ts'
import { SAFEGUARDS } from './safeguards.ts'
import { renderSafeguards, type SafeguardRow } from './safeguards-table.ts'

/**
 * `npm run safeguards [-- --json] [-- --only <part of a name>]`: removes each safeguard in a copy of the project and
 * shows that its test fails there. Exit 1 if a safeguard can be removed unnoticed, or if a patch no longer applies.
 *
 * `-- --by-model` runs the model tests on each copy instead, `-- --by-rig [--seconds N] [--seeds 1,2,3]` the fault rig on
 * each copy that the model did not catch (with `--only`, on those). What they find is kept in `also-caught.json`, which the
 * table shows.
 */

const say = (text: string): void => void process.stderr.write(text)

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean' },
      only: { type: 'string' },
      'by-model': { type: 'boolean' },
      'by-rig': { type: 'boolean' },
      seconds: { type: 'string', default: '25' },
      seeds: { type: 'string', default: '1,2,3' },
    },
  })
  const chosen = SAFEGUARDS.filter(({ name }) => name.includes(values.only ?? ''))
  if (values['by-model']) return byModel(chosen)
  if (values['by-rig']) {
    const runs = { seconds: Number(values.seconds), seeds: values.seeds.split(',').map(Number) }
    const known = await readAlsoCaught()
    const open = values.only === undefined ? chosen.filter(({ name }) => known.get(name)?.by !== 'model') : chosen
    return look(open, 'rig', (safeguard) => caughtByRig(safeguard, runs))
  }
  await byTest(chosen, values.json === true)
}

async function byTest(chosen: readonly Safeguard[], json: boolean): Promise<void> {
  const also = await readAlsoCaught()
  say('Running the named tests on the code as it is … ')
  const broken = await failingUnpatched(chosen)
  say('done\n')
  const rows: SafeguardRow[] = []
  for (const [index, safeguard] of chosen.entries()) {
    say(`[${index + 1}/${chosen.length}] without: ${safeguard.name} … `)
    const verdict = broken.has(safeguard) ? 'test fails unpatched' : await verdictByTest(safeguard)
    say(`${verdict}\n`)
    rows.push({ safeguard, verdict, also: also.get(safeguard.name) })
  }
  process.stdout.write(json ? `${JSON.stringify(rows.map(plainRow))}\n` : renderSafeguards(rows))
  process.exitCode = rows.length > 0 && rows.every(({ verdict }) => verdict === 'caught') ? 0 : 1
}

function plainRow({ safeguard, verdict, also }: SafeguardRow): object {
  return { name: safeguard.name, verdict, ...(also === undefined ? {} : { alsoBy: also.by }) }
}

async function byModel(chosen: readonly Safeguard[]): Promise<void> {
  say('Running the model tests on the code as it is … ')
  await checkModel()
  say('done\n')
  await look(chosen, 'model', caughtByModel)
}

/** Exit 1 if one of them is not caught. What the other of the two has found stays. */
async function look(
  chosen: readonly Safeguard[],
  by: AlsoCaught['by'],
  lookAt: (safeguard: Safeguard) => Promise<string | undefined>,
): Promise<void> {
  let missed = 0
  for (const [index, safeguard] of chosen.entries()) {
    say(`[${index + 1}/${chosen.length}] without: ${safeguard.name} … `)
    const how = await lookAt(safeguard)
    say(how === undefined ? 'not caught\n' : `caught: ${how}\n`)
    if (how === undefined) missed += 1
    await note(safeguard.name, how === undefined ? undefined : { by, how }, by)
  }
  say(`The ${by} catches ${chosen.length - missed} of ${chosen.length}.\n`)
  process.exitCode = missed === 0 ? 0 : 1
}

async function note(name: string, caught: AlsoCaught | undefined, by: AlsoCaught['by']): Promise<void> {
  const known = new Map(await readAlsoCaught())
  if (caught !== undefined) known.set(name, caught)
  else if (known.get(name)?.by === by) known.delete(name)
  await writeAlsoCaught(known)
}

await main()
