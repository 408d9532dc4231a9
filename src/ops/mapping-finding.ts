import type { Finding, MappingChange } from './deployment.ts'

type Mendable = Pick<Finding, 'resource' | 'wrong' | 'effect' | 'property'> & {
  readonly id: string
  readonly change: MappingChange
}

/** A finding that `--fix` mends by one change of the mapping, and the command that does the same. */
export function mappingFinding({ id, change, property, ...rest }: Mendable): Finding {
  const [[name, value] = ['', '']] = Object.entries(change)
  const flag = name === 'Enabled' ? '--enabled' : `--${kebab(name)} ${shell(value)}`
  return {
    severity: 'error',
    ...rest,
    property: `${property} of the EventSourceMapping`,
    command: `aws lambda update-event-source-mapping --uuid ${id} ${flag}`,
    fix: { kind: 'mapping', id, change },
  }
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter, at) => (at === 0 ? '' : '-') + letter.toLowerCase())
}

function shell(value: unknown): string {
  if (Array.isArray(value)) return value.join(' ')
  return typeof value === 'object' ? `'${JSON.stringify(value)}'` : String(value)
}
