const maxAnswerBytes = 64 * 1024

export type HttpAnswer = { http: number; retryAfter: string | null; text: string }

// The deadline is a timer of ours and reaches the body, too: fetch can lose sight of its signal once the headers are
// there. A body that breaks off, goes on for ever or comes too late is judged by what there is of it: the status is
// the provider's word already, and asking again would send again.
export async function call(url: string, init: RequestInit, deadlineMs: number): Promise<HttpAnswer> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(new Error('no answer in time')), deadlineMs)
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: deadline.signal })
    const text = await readText(response, deadline.signal)
    return { http: response.status, retryAfter: response.headers.get('retry-after'), text }
  } finally {
    clearTimeout(timer)
    deadline.abort()
  }
}

async function readText({ body }: Response, signal: AbortSignal) {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const reader = body?.getReader()
  const hangUp = () => void reader?.cancel().catch(() => {})
  signal.addEventListener('abort', hangUp)
  while (bytes < maxAnswerBytes) {
    const { value } = (await reader?.read().catch(() => undefined)) ?? {}
    if (!value) break
    bytes += value.byteLength
    chunks.push(value)
  }
  hangUp()
  return Buffer.concat(chunks).toString('utf8', 0, maxAnswerBytes)
}
