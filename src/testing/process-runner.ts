/**
 * What a child process of a {@link processFunction} runs (`node -e`): text, so that it needs no file beside the bundle.
 * It ends when the channel to its parent closes, however the parent ended.
 */
export const PROCESS_RUNNER = `
const [url, name] = process.argv.slice(1)
process.on('disconnect', () => process.exit(1))
const loaded = import(url).then((module) => {
  const handler = module[name] ?? module.default?.[name]
  if (typeof handler !== 'function') throw new TypeError('The module exports no function of that name.')
  return handler
})
const ready = () => process.send({ ready: true })
loaded.then(ready, ready)
process.on('message', async ({ event, functionName, requestId, deadline, scale }) => {
  const now = () => scale.origin + (Date.now() - scale.origin) * scale.speed
  const context = {
    functionName,
    awsRequestId: requestId,
    getRemainingTimeInMillis: () => Math.max(0, Math.floor(deadline - now())),
  }
  try {
    const handler = await loaded
    process.send({ response: await handler(event, context) })
  } catch (error) {
    process.send({ error: { name: error?.name ?? 'Error', message: String(error?.message ?? error) } })
  }
})
`
