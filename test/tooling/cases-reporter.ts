import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Reporter, TestModule, TestRunEndReason, TestSpecification, Vitest } from 'vitest/node'
import { CASES } from '../cases.ts'
import { type Proof, reportCases } from './cases-report.ts'

/** Where the outcome is written. */
const PAGE = 'test/cases.md'

/**
 * After a run of the whole suite, writes which passing test proves which case, and fails the run if a case has none. A
 * filtered or interrupted run proves nothing about the rest, and writes nothing.
 */
export default class CasesReporter implements Reporter {
  #vitest: Vitest | undefined
  #lines = false

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#lines = specifications.some(({ testLines }) => testLines !== undefined)
  }

  async onTestRunEnd(modules: readonly TestModule[], _errors: unknown, reason: TestRunEndReason): Promise<void> {
    const vitest = this.#vitest
    if (vitest === undefined || reason === 'interrupted' || !(await this.#isWhole(vitest, modules))) return
    const { root } = vitest.config
    const { markdown, unproven } = reportCases(
      CASES,
      modules.flatMap((module) => proofsOf(module, root)),
    )
    await writeFile(join(root, PAGE), markdown)
    if (unproven.length === 0) return
    process.exitCode = 1
    vitest.logger.error(`\n${unproven.length} cases of test/cases.ts have no passing test:`)
    for (const { id, title } of unproven) vitest.logger.error(`  ${id}: ${title}`)
  }

  async #isWhole(vitest: Vitest, modules: readonly TestModule[]): Promise<boolean> {
    if (this.#lines || vitest.getGlobalTestNamePattern() !== undefined || vitest.config.tagsFilter !== undefined)
      return false
    const all = await vitest.globTestSpecifications()
    const ran = new Set(modules.map(({ moduleId }) => moduleId))
    return all.every(({ moduleId }) => ran.has(moduleId))
  }
}

function proofsOf(module: TestModule, root: string): readonly Proof[] {
  const file = relative(root, module.moduleId)
  return Array.from(module.children.allTests('passed'), (test) => ({
    file,
    title: test.fullName,
    proves: test.meta().proves ?? [],
  }))
}
