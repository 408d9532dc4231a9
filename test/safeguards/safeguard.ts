/**
 * A rule of the design whose removal loses, doubles or reorders events, as a patch that removes it and the test that
 * must then fail. A test that passes without the rule proves nothing about it.
 */
export type Safeguard = {
  /** The rule, in a few words. */
  readonly name: string
  /** Source file to patch, from the project's root. */
  readonly file: string
  /** Text that stands in it exactly once. */
  readonly find: string
  /** What replaces it: the code without the rule. */
  readonly replace: string
  /** The test that must fail, by its file and (part of) its title. */
  readonly test: { readonly file: string; readonly title: string }
}
