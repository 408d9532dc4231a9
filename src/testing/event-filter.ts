import { invalidSetting } from '../settings.ts'

/** A pattern of Lambda's event filtering (EventBridge's syntax): nested objects whose leaves are lists of rules. */
export type FilterPattern = { readonly [key: string]: FilterPattern | readonly FilterRule[] }

export type FilterRule =
  | string
  | number
  | boolean
  | null
  | { readonly prefix: string }
  | { readonly suffix: string }
  | { readonly exists: boolean }
  | { readonly 'equals-ignore-case': string }
  | { readonly 'anything-but': string | readonly string[] | { readonly prefix: string } | { readonly suffix: string } }

/**
 * Whether a record matches one of the patterns (OR between patterns, AND between the fields of one). Supported are exact
 * values, `prefix`, `suffix`, `exists`, `equals-ignore-case` and `anything-but`; any other rule is refused when the
 * source is connected, never ignored.
 */
export function matchesFilter(record: unknown, patterns: readonly FilterPattern[]): boolean {
  return patterns.length === 0 || patterns.some((pattern) => matchesPattern(record, pattern))
}

/** Throws `INVALID_SETTING` for a rule that is not supported. */
export function checkFilter(pattern: FilterPattern, path = 'filter'): void {
  for (const [key, rules] of Object.entries(pattern)) {
    const at = `${path}.${key}`
    if (!isRules(rules)) checkFilter(rules, at)
    else if (!rules.every(isSupported)) throw invalidSetting(at, 'has a rule that the local event source does not know')
  }
}

const OPERATORS: ReadonlySet<string> = new Set(['prefix', 'suffix', 'exists', 'equals-ignore-case', 'anything-but'])

function isSupported(rule: FilterRule): boolean {
  if (typeof rule !== 'object' || rule === null) return true
  const names = Object.keys(rule)
  return names.length === 1 && names.every((name) => OPERATORS.has(name))
}

function matchesPattern(value: unknown, pattern: FilterPattern): boolean {
  return Object.entries(pattern).every(([key, rules]) => {
    const field = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
    return isRules(rules) ? rules.some((rule) => matchesRule(field, rule)) : matchesPattern(field, rules)
  })
}

function matchesRule(value: unknown, rule: FilterRule): boolean {
  if (Array.isArray(value)) return value.some((item) => matchesRule(item, rule))
  if (typeof rule !== 'object' || rule === null) return value === rule
  if ('exists' in rule) return (value !== undefined && (typeof value !== 'object' || value === null)) === rule.exists
  if (typeof value !== 'string') return false
  if ('prefix' in rule) return value.startsWith(rule.prefix)
  if ('suffix' in rule) return value.endsWith(rule.suffix)
  if ('equals-ignore-case' in rule) return value.toLowerCase() === rule['equals-ignore-case'].toLowerCase()
  const excluded = rule['anything-but']
  if (typeof excluded === 'string') return value !== excluded
  return isTexts(excluded) ? !excluded.includes(value) : !matchesRule(value, excluded)
}

function isRules(rules: FilterPattern | readonly FilterRule[]): rules is readonly FilterRule[] {
  return Array.isArray(rules)
}

function isTexts(
  value: readonly string[] | { readonly prefix: string } | { readonly suffix: string },
): value is readonly string[] {
  return Array.isArray(value)
}
