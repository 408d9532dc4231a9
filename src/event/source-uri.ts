/**
 * CloudEvents wants `source` to be a URI reference; our grammar allows characters that no URI may hold. Those are
 * percent-encoded in the body, and `%` and `#` with them, so that the form is one to one. Ordinary names stay as they are.
 */
export function encodeSource(source: string): string {
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.test(source)
  return source.replace(scheme ? /[^\w\-.~!$&'()*+,;=@?:]/g : /[^\w\-.~!$&'()*+,;=@?]/g, percentEncode)
}

/** The inverse. Undefined for text that {@link encodeSource} does not make. */
export function decodeSource(text: string): string | undefined {
  const source = text.replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  return encodeSource(source) === text ? source : undefined
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
