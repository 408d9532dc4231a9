import type { Command } from 'commander'
import { checkDeployment } from '../ops/check-deployment.ts'
import type { Finding } from '../ops/deployment.ts'
import { systemCommand } from './command.ts'
import { EXIT, type Io, printJson } from './io.ts'
import { type Mending, mendDeployment } from './mend-deployment.ts'
import { readDeployment } from './read-deployment.ts'
import { count, wrap } from './render.ts'
import { usageError } from './usage-error.ts'

type Options = { readonly fix?: boolean; readonly yes?: boolean }

export function doctorCommand(io: Io): Command {
  return systemCommand<Options>(
    {
      name: 'doctor',
      summary: 'what is deployed against what this version needs (exit 1 if something is wrong)',
      examples: ['doctor', 'doctor --fix', 'doctor --fix --yes'],
    },
    io,
    async ({ system, entry, options }) => {
      if (entry === undefined)
        throw usageError(
          'doctor needs the names that the constructs write to SSM parameters: leave out --outbox-table.',
        )
      const findings = checkDeployment(await readDeployment(system, entry))
      const mendings = options.fix && options.yes ? await mendDeployment(system, findings) : []
      if (options.json)
        printJson(io, { findings, mendings: mendings.map(({ finding, ...rest }) => ({ ...rest, ...finding })) })
      else
        io.out(
          renderFindings(findings, io.columns) +
            renderMendings(mendings, io.columns) +
            nextStep(findings, options, io.columns),
        )
      const mended = mendings.filter(({ outcome }) => outcome === 'mended').length
      return findings.length === mended ? EXIT.ok : EXIT.incomplete
    },
  )
    .option('--fix', 'show what can be mended in place; with --yes, mend it')
    .option('--yes', 'with --fix: do it')
}

export function renderFindings(findings: readonly Finding[], width: number): string {
  if (findings.length === 0) return 'All is as this version needs it.\n'
  return findings.map((finding) => `${renderFinding(finding, width)}\n`).join('')
}

function renderFinding({ severity, resource, wrong, effect, property, command, fix }: Finding, width: number): string {
  const lines: [string, string][] = [
    ['then', effect],
    ['CDK', property],
    [fix === undefined ? 'by hand' : 'or --fix', command],
  ]
  const indent = (name: string, text: string): string =>
    wrap(text, width - 11)
      .split('\n')
      .map((line, n) => `  ${(n === 0 ? name : '').padEnd(8)} ${line}\n`)
      .join('')
  const head = wrap(`${severity === 'error' ? '✗' : '!'} ${resource} ${wrong}`, width)
  return `${head}\n${lines.map(([name, text]) => indent(name, text)).join('')}`
}

function renderMendings(mendings: readonly Mending[], width: number): string {
  const lines = mendings.map(({ finding: { resource, wrong }, outcome, reason }) =>
    outcome === 'mended'
      ? `mended: ${resource} ${wrong}`
      : `refused (${reason}): ${resource} ${wrong}; do it by hand as said above`,
  )
  return lines.map((line) => `${wrap(line, width)}\n`).join('')
}

function nextStep(findings: readonly Finding[], { fix, yes }: Options, width: number): string {
  const mendable = findings.filter((finding) => finding.fix !== undefined).length
  if (findings.length === 0 || (fix && yes)) return ''
  const hint = fix ? ' Add --yes to mend them.' : ' `doctor --fix --yes` mends those, and changes nothing else.'
  const sum = `${count(findings.length, 'finding')}; ${mendable} can be mended in place.`
  return `${wrap(`${sum}${mendable === 0 ? '' : hint}`, width)}\n`
}
