import { cp, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cdkEnvironment } from '../documented.ts'
import { ROOT } from '../root.ts'
import { runCommand } from '../run-command.ts'

/** An app in a folder of its own, far from this repository, as somebody else would have it. */
export type Project = {
  readonly folder: string
  readonly run: (command: string, ...args: readonly string[]) => Promise<string>
}

/** A new app, with the packed tarball, and what is in `apps/<kind>` and `apps/shared`, laid over it. */
export type ProjectOptions = {
  readonly parent: string
  readonly name: string
  readonly kind: 'cjs' | 'esm'
  readonly tarball: string
  /** Installed beside the tarball, in the versions that the tests run with. */
  readonly packages: readonly string[]
}

export async function createProject({ parent, name, kind, tarball, packages }: ProjectOptions): Promise<Project> {
  const folder = join(parent, name)
  await mkdir(folder)
  const run = (command: string, ...args: readonly string[]): Promise<string> =>
    runCommand(command, args, { cwd: folder, env: cdkEnvironment(parent) })
  if (kind === 'cjs') await run(...CDK, 'init', 'app', '--language', 'typescript', '--generate-only')
  for (const part of [kind, 'shared']) await cp(join(import.meta.dirname, part), folder, { recursive: true })
  const versions = await pinned(packages)
  await run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', tarball, ...versions)
  return { folder, run }
}

const CDK = [process.execPath, join(ROOT, 'node_modules/aws-cdk/bin/cdk')] as const

/** The package as it would be published. What was built is packed as it is. */
export async function packTarball(folder: string): Promise<string> {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const [packed] = JSON.parse(await runCommand('npm', args, { cwd: ROOT, env: process.env })) as { filename: string }[]
  if (packed === undefined) throw new Error('npm pack named no tarball')
  return join(folder, packed.filename)
}

async function pinned(packages: readonly string[]): Promise<string[]> {
  const { devDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>
  }
  return packages.map((name) => `${name}@${devDependencies[name]}`)
}
