/** Leaves out what is undefined: under `exactOptionalPropertyTypes` an optional property is either there or not. */
export function given<T extends object>(properties: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>
  }
}
