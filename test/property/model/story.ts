/** What happened, as lines to be read from top to bottom. */
export type Story = {
  /** `text` is made only if somebody reads it. */
  readonly tell: (who: string, text: string | (() => string)) => void
  /** Names an event shortly wherever its id or key occurs. */
  readonly name: (id: string, short: string) => void
  /** A text with the names in it. */
  readonly nameOf: (text: string) => string
  readonly text: () => string
}

const LONGEST = 400

export function createStory(now: () => number): Story {
  const begun = now()
  const names = new Map<string, string>()
  const lines: { readonly at: number; readonly who: string; readonly text: string | (() => string) }[] = []
  return {
    tell: (who, text) => lines.push({ at: now(), who, text }),
    name: (id, short) => names.set(id, short),
    nameOf: (id) => id.replace(/[0-9a-f]{64}/, (hash) => names.get(hash) ?? hash.slice(0, 8)),
    text: () => {
      const shown = lines.slice(-LONGEST)
      const cut = lines.length > LONGEST ? `… ${lines.length - LONGEST} lines before\n` : ''
      return cut + shown.map(({ at, who, text }) => lineOf(at - begun, who, text)).join('\n')
    },
  }
}

function lineOf(ms: number, who: string, text: string | (() => string)): string {
  const time = (ms / 1000).toFixed(3).padStart(11)
  return `${time} s  ${who.padEnd(12)} ${typeof text === 'string' ? text : text()}`
}
