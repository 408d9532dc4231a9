import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Step } from '../step.ts'

/** An emulator of the run's own evaluates IAM policies and writes down what it allowed and refused. */
export const permissionsSuffice: Step = {
  title: 'no function lacked a permission',
  emulatorOnly: true,
  run: async ({ target }) => {
    if (target.log === undefined) return 'not known of an emulator that was not started here'
    const lines = (await readFile(target.log, 'utf8')).matchAll(/^IAM (allowed|refused) (\S+) (.*assumed-role.*)$/gm)
    const calls = [...lines].map(([, outcome, action, principal]) => ({ outcome, action, principal }))
    assert.deepEqual(
      calls.filter(({ outcome }) => outcome === 'refused'),
      [],
    )
    return `${new Set(calls.map(({ action }) => action)).size} actions used by ${new Set(calls.map(({ principal }) => principal)).size} roles, under IAM and TLS`
  },
}
