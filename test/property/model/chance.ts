/**
 * A number in [0, 1) that is a function of its parts alone. The luck of one call so does not depend on other calls, and a
 * plan that loses a step keeps the rest of its course: that is what makes a trace shrink. Seed 0 has no luck at all: always
 * one half.
 */
export function chance(seed: number, ...parts: readonly (string | number)[]): number {
  if (seed === 0) return 0.5
  let hash = 0x811c9dc5 ^ seed
  for (const part of parts) {
    const text = String(part)
    for (let n = 0; n < text.length; n++) hash = Math.imul(hash ^ text.charCodeAt(n), 0x01000193)
    hash = Math.imul(hash ^ 0x2f, 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
