import diagnostics from 'node:diagnostics_channel'

/**
 * Loaded before a command (`node --import`): it dies by SIGKILL at the request that `KILL_AT_REQUEST` names, such as
 * `before 7`: the seventh is not sent; or `after 7`: the seventh was done, and the command does not hear of it.
 */
const [moment, number] = (process.env['KILL_AT_REQUEST'] ?? '').split(' ')
const die = (): void => void process.kill(process.pid, 'SIGKILL')
const requests = new Set<unknown>()
let fatal: unknown

diagnostics.subscribe('http.client.request.created', (message) => {
  const { request } = message as { readonly request: unknown }
  requests.add(request)
  if (requests.size !== Number(number) || fatal !== undefined) return
  fatal = request
  if (moment === 'before') die()
})

diagnostics.subscribe('http.client.response.finish', (message) => {
  const { request } = message as { readonly request: unknown }
  if (request === fatal) die()
})
