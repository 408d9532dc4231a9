import { defineConfig } from 'vitest/config'

/** Everything that needs no deployment. Tests start their own engines on free ports of 127.0.0.1. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/deploy/**', 'test/chaos/**'],
    maxWorkers: '100%',
    testTimeout: 20_000,
    hookTimeout: 20_000,
    reporters: ['default', './test/tooling/cases-reporter.ts'],
  },
})
