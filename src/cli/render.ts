/** Characters of an event id that tables show: any of its beginnings that is unique will do for a command. */
const SHOWN_ID = 12

export function shortId(id: string): string {
  return /^[0-9a-f]{64}$/.test(id) ? id.slice(0, SHOWN_ID) : id
}

/** `2 d 3 h`, `5 min`, `12 s`: two units at most. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const first = parts.findIndex(([amount]) => amount > 0)
  if (first < 0) return '0 s'
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ')
}

/** `2026-11-30 20:15:00Z`. */
export function time(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace('T', ' ')
}

export function count(amount: number, noun: string, plural = `${noun}s`): string {
  return `${amount.toLocaleString('en')} ${amount === 1 ? noun : plural}`
}

/** Text in lines no longer than this, broken between words; what is longer than a line is cut within. */
export function wrap(text: string, width: number): string {
  const lines: string[] = ['']
  for (const word of text.split(/\s+/).flatMap((one) => one.match(new RegExp(`.{1,${width}}`, 'gu')) ?? [])) {
    const line = lines.at(-1) ?? ''
    if (line === '') lines[lines.length - 1] = word
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines.join('\n')
}

/** `name  value` lines, the names as wide as the longest; a value that is too long goes on below itself. */
export function renderFields(fields: readonly (readonly [string, string])[], width: number): string {
  const names = Math.max(...fields.map(([name]) => name.length)) + 2
  const lines = ([name, value]: readonly [string, string]): string =>
    `${name.padEnd(names)}${wrap(value, width - names).replaceAll('\n', `\n${' '.repeat(names)}`)}\n`
  return fields.map(lines).join('')
}
