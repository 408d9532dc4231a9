/** A call as the AWS SDK makes it: it ends with an error once its signal aborts, whatever becomes of the request. */
export function abortable<Answer>(
  send: () => Promise<Answer>,
  { abortSignal: signal }: { readonly abortSignal?: AbortSignal } = {},
): Promise<Answer> {
  if (signal === undefined) return send()
  if (signal.aborted) return Promise.reject(aborted())
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(aborted()), { once: true })
    send().then(resolve, reject)
  })
}

function aborted(): Error {
  return Object.assign(new Error('Request aborted'), { name: 'AbortError' })
}
