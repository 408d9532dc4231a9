import type { Safeguard } from './safeguard.ts'

const PUBLISHER = 'test/relay/event-bridge-publisher.test.ts'
const BATCH = 'src/relay/event-bridge-batch.ts'

/** Rules of the EventBridge destination. */
export const EVENT_BRIDGE_SAFEGUARDS: readonly Safeguard[] = [
  {
    name: 'bus: nothing is sent to one that cannot be seen',
    file: 'src/relay/event-bridge-publisher.ts',
    find: 'if (missing !== undefined) return',
    replace: "if (missing === 'never') return",
    test: { file: PUBLISHER, title: 'EventBridge would answer 200 and drop it' },
  },
  {
    name: 'bus: seen again each minute',
    file: 'src/relay/event-bridge-bus-look.ts',
    find: 'now - last.at >= LOOK_AGE_MS',
    replace: 'now < last.at',
    test: { file: PUBLISHER, title: 'is noticed within a minute of the clock' },
  },
  {
    name: 'bus: a look that failed is not remembered',
    file: 'src/relay/event-bridge-bus-look.ts',
    find: '      last = undefined\n',
    replace: '',
    test: { file: PUBLISHER, title: 'is found at once when it is created' },
  },
  {
    name: 'bus: the code of each entry is read',
    file: BATCH,
    find: 'if (entry?.ErrorCode) return',
    replace: 'if (entry === undefined) return { status: "accepted" }\n  if (entry.ErrorCode === "never") return',
    test: { file: PUBLISHER, title: 'is read entry by entry' },
  },
  {
    name: 'bus: a code that is not known is an outage',
    file: BATCH,
    find: "if (!fault) return { status: 'failed', reason: code }",
    replace: "if (!fault) return { status: 'refused', reason: code }",
    test: { file: PUBLISHER, title: 'an entry with SomethingNew' },
  },
  {
    name: 'bus: one entry does not condemn the others',
    file: 'src/relay/event-bridge-publisher.ts',
    find: 'if (entries.length > 1 && isAboutOneEntry(error))',
    replace: 'if (entries.length > 100 && isAboutOneEntry(error))',
    test: { file: PUBLISHER, title: 'is sent entry by entry' },
  },
  {
    name: 'function: no answer while the handler still runs',
    file: 'functions/runtime/instruments.ts',
    find: 'timeoutEarlyInMillis: 0',
    replace: 'timeoutEarlyInMillis: 5',
    test: { file: 'test/functions/runtime/instruments.test.ts', title: 'gives no answer before the handler has ended' },
  },
  {
    name: 'function: a call without an answer ends',
    file: 'functions/runtime/aws-clients.ts',
    find: 'throwOnRequestTimeout: true',
    replace: 'throwOnRequestTimeout: false',
    test: { file: 'test/functions/runtime/aws-clients.test.ts', title: 'a call that gets no answer ends by itself' },
  },
]
