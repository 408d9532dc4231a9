import type { Case, CaseArea, CaseId } from '../cases.ts'

/** A passing test and the cases it names. */
export type Proof = { readonly file: string; readonly title: string; readonly proves: readonly CaseId[] }

export type CasesReport = {
  readonly markdown: string
  /** Cases that need a proof and have none. */
  readonly unproven: readonly Case[]
}

/** Every case with the passing tests that prove it, as a page that is the same whatever order the tests ran in. */
export function reportCases(cases: readonly Case[], proofs: readonly Proof[]): CasesReport {
  const areas = [...new Set(cases.map(({ area }) => area))]
  const proven = (id: CaseId) => proofs.filter(({ proves }) => proves.includes(id))
  const sections = areas.map((area) => section(area, { cases, proven }))
  const count = cases.filter(({ id }) => proven(id).length > 0).length
  return {
    markdown: `${HEADER}\n${count} of ${cases.length} cases are proven.\n${sections.join('')}`,
    unproven: cases.filter(({ id, later }) => later === undefined && proven(id).length === 0),
  }
}

const HEADER = `# Cases and what proves them

What users of comparable systems have reported, and the tests that show the right behaviour here. Written by \`npm test\`,
which fails when a case has no passing test; do not edit.
`

type Sources = { readonly cases: readonly Case[]; readonly proven: (id: CaseId) => readonly Proof[] }

function section(area: CaseArea, { cases, proven }: Sources): string {
  const rows = cases
    .filter((row) => row.area === area)
    .map(({ id, title, later }) => `| ${cell(title)} | ${evidence(proven(id), later)} |\n`)
  return `\n## ${area}\n\n| case | proven by |\n|---|---|\n${rows.join('')}`
}

function evidence(proofs: readonly Proof[], later: string | undefined): string {
  if (proofs.length === 0) return later === undefined ? '**nothing**' : `later: ${cell(later)}`
  return proofs
    .map(({ file, title }) => `${cell(title)} (\`${file}\`)`)
    .toSorted()
    .join('<br>')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}
