import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createOutbox } from '../../../src/index.ts'
import { createProject, type Project, type ProjectOptions, packTarball } from '../apps/project.ts'
import { eventually } from '../eventually.ts'
import { readAll } from '../shop.ts'
import type { Step } from '../step.ts'
import type { World } from '../world.ts'
import { isEvent, isRelayed } from './relayed.ts'

/** Outputs of a stack, by name. */
type Outputs = { readonly OutboxTable: string; readonly LedgerTable: string }

type App = Pick<ProjectOptions, 'kind' | 'name' | 'packages'> & { readonly title: string; readonly stack: string }

/** What README says to install, and what bundles functions without Docker. */
const SDK = ['@aws-sdk/client-dynamodb', '@aws-sdk/lib-dynamodb', '@aws-sdk/client-sqs', 'esbuild']

const COMMON_JS: App = {
  title: 'an app by cdk init (CommonJS, jest) with the packed tarball',
  kind: 'cjs',
  name: 'outbox-app',
  stack: 'OutboxAppStack',
  packages: SDK,
}

const ESM: App = {
  title: 'an app of ECMAScript modules with the packed tarball',
  kind: 'esm',
  name: 'outbox-esm-app',
  stack: 'OutboxEsmAppStack',
  packages: [...SDK, '@types/node', 'aws-cdk', 'aws-cdk-lib', 'constructs', 'typescript'],
}

/** Apps that use the package as others do. */
export const apps: readonly Step[] = [COMMON_JS, ESM].flatMap(stepsOf)

function stepsOf(app: App): Step[] {
  let project: Project | undefined
  const made = (): Project => {
    if (project === undefined) throw new Error(`${app.name} was not made`)
    return project
  }
  const builds: Step = {
    title: `${app.title}: ${app.kind === 'cjs' ? 'npm test and ' : ''}cdk synth`,
    run: async ({ folder }) => {
      project = await createProject({ ...app, parent: folder, tarball: await packTarball(folder) })
      if (app.kind === 'cjs') await project.run('npm', 'test')
      await project.run('npx', 'cdk', 'synth', '-q')
      return undefined
    },
  }
  const handles: Step = {
    title: `${app.name} deployed: an event is relayed and handled`,
    emulatorOnly: true,
    run: async (world) => {
      const { run, folder } = made()
      const file = join(folder, 'outputs.json')
      try {
        await run('npx', 'cdk', 'deploy', '--require-approval', 'never', '--outputs-file', file)
        const outputs = JSON.parse(await readFile(file, 'utf8')) as Record<string, Outputs | undefined>
        const stack = outputs[app.stack]
        if (stack === undefined) throw new Error(`${app.stack} has no outputs`)
        await handleOne(world, stack)
      } finally {
        await run('npx', 'cdk', 'destroy', '--force', '--app', 'cdk.out')
      }
      return undefined
    },
  }
  return [builds, handles]
}

async function handleOne(world: World, { OutboxTable, LedgerTable }: Outputs): Promise<void> {
  const outbox = createOutbox({ documentClient: world.dynamo, tableName: OutboxTable })
  const event = { source: 'app', type: 'order.placed', key: 'order-1', data: { orderId: 'order-1' } }
  await outbox.transact({ writes: [], events: [event] })
  await eventually('the event to be done', async () =>
    (await readAll(world, LedgerTable)).some(({ sk, status }) => sk === 'orders/print' && status === 'done'),
  )
  await eventually('its row to be relayed', async () =>
    (await readAll(world, OutboxTable)).filter(isEvent).every(isRelayed),
  )
}
