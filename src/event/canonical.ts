/**
 * RFC 8785 canonical form of a value that came out of `JSON.parse`: members sorted by UTF-16 code units, numbers as
 * ECMAScript writes them (-0 is 0), no white space. Two JSON values are equal exactly if their canonical forms are.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`
}

/** Whether two JSON values are the same: member order does not count, array order and every value do. */
export function sameJson(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b)
}
