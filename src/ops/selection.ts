import { checkOptions, invalidSetting } from '../settings.ts'
import { type DeadItem, failureKind } from './group-dead-letters.ts'

/** Which dead letters are meant: those that fit every member given. Nothing at all is no selection. */
export type Selection = {
  /** Whole event ids. */
  readonly ids?: readonly string[]
  /** `consumer/handler`; `relay` or `pull` for dead rows; `sqs` for what SQS itself moved. */
  readonly handler?: string
  /** A part of the kind of the failure, as `listDeadLetters` shows it. */
  readonly failure?: string
  readonly all?: true
}

/** Refuses (`INVALID_SETTING`) a selection that selects by nothing, so that an empty variable never means everything. */
export function checkSelection(owner: string, selection: Selection): void {
  checkOptions(owner, selection, ['ids', 'handler', 'failure', 'all'])
  const { ids, handler, failure, all } = selection
  if (ids !== undefined && !(Array.isArray(ids) && ids.length > 0 && ids.every(isName)))
    throw invalidSetting(`${owner}.ids`, 'must be a list of event ids, at least one')
  if (handler !== undefined && !isName(handler))
    throw invalidSetting(`${owner}.handler`, 'must be the name of a consumer and of a handler, "consumer/handler"')
  if (failure !== undefined && !isName(failure))
    throw invalidSetting(`${owner}.failure`, 'must be text that is part of a failure')
  if (all !== undefined && all !== true) throw invalidSetting(`${owner}.all`, 'must be true, or left out')
  if (ids === undefined && handler === undefined && failure === undefined && all === undefined)
    throw invalidSetting(owner, 'must name ids, a handler or a failure, or say all')
}

export function isSelected({ ids, handler, failure }: Selection, item: DeadItem): boolean {
  if (ids !== undefined && !ids.includes(item.id)) return false
  if (handler !== undefined && item.handler !== handler) return false
  return failure === undefined || failureKind(item.reason).includes(failure)
}

/** `relay` and `pull` are names of no handler: no message fits. */
export function selectsRowsOnly({ handler }: Selection): boolean {
  return handler === 'relay' || handler === 'pull'
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}
