import { defineConfig } from 'tsdown'

/** Builds what is shipped: each entry as ECMAScript module and as CommonJS, with types for both. */
export default defineConfig({
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
})
