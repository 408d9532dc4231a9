import { readFileSync } from 'node:fs'
import { defineConfig } from 'tsdown'

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as { version: string }

export default defineConfig([
  /** Builds what is shipped: each entry as ECMAScript module and as CommonJS, with types for both. */
  {
    entry: {
      index: 'src/index.ts',
      relay: 'src/relay/index.ts',
      'event-bridge': 'src/relay/event-bridge-publisher.ts',
      consumer: 'src/consumer/index.ts',
      ops: 'src/ops/index.ts',
      testing: 'src/testing/index.ts',
      cdk: 'cdk/index.ts',
    },
    format: ['esm', 'cjs'],
    target: 'node22',
    platform: 'node',
    dts: true,
    clean: true,
    fixedExtension: false,
    // The constructs look for the functions' bundles beside the built file: `__dirname`, in ECMAScript modules too.
    shims: true,
  },
  /** The command, with all that it uses in one file: whoever installs the library gets no dependency for it. */
  {
    entry: { cli: 'src/cli/bin.ts' },
    format: 'esm',
    target: 'node22',
    platform: 'node',
    dts: false,
    clean: false,
    minify: true,
    deps: { alwaysBundle: [/.*/] },
    define: { __VERSION__: JSON.stringify(version) },
    banner: {
      js: "#!/usr/bin/env node\nimport{createRequire as __r}from'node:module';const require=__r(import.meta.url);",
    },
  },
])
