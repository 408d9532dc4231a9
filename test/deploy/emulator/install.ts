import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '../run-command.ts'

const ROOT = join(import.meta.dirname, '../../..')
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt')
const VENV = join(ROOT, '.venv/ministack')
/** A copy of the requirements that were installed: the last thing an installation writes. */
const INSTALLED = join(VENV, 'installed.txt')

/** Python of the virtual environment. */
export const PYTHON = join(VENV, 'bin/python')

/** Makes the virtual environment with the pinned MiniStack, unless it is there. Needs `python3` with its `venv` module. */
export async function installEmulator(): Promise<string> {
  const wanted = await readFile(REQUIREMENTS, 'utf8')
  const version = wanted.match(/^ministack==(.+)$/m)?.[1] ?? '?'
  if (existsSync(INSTALLED) && (await readFile(INSTALLED, 'utf8')) === wanted)
    return `MiniStack ${version}, as installed`
  await rm(VENV, { recursive: true, force: true })
  await mkdir(VENV, { recursive: true })
  const options = { cwd: ROOT, env: process.env }
  await runCommand('python3', ['-m', 'venv', VENV], options)
  await runCommand(PYTHON, ['-m', 'pip', 'install', '--quiet', '--no-deps', '-r', REQUIREMENTS], options)
  await copyFile(REQUIREMENTS, INSTALLED)
  return `MiniStack ${version}, installed`
}
