const maxAnswerBytes = 64 * 1024

export type JsonAnswer = Record<string, unknown>

// A redirect, a page, an endless or a late answer: each is thrown. The signal reaches the body, too: fetch can lose sight
// of it once the headers are there, and would then read a slow answer for ever.
export async function askJson(url: string, init: RequestInit & { signal: AbortSignal }) {
  const response = await fetch(url, { ...init, redirect: 'error' })
  const answer: unknown = JSON.parse(await readText(response, init.signal))
  if (typeof answer !== 'object' || answer === null) throw new Error('the answer is no JSON object')
  return { http: response.status, answer: answer as JsonAnswer }
}

async function readText({ body }: Response, signal: AbortSignal) {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const reader = body?.getReader()
  const hangUp = () => void reader?.cancel().catch(() => {})
  signal.addEventListener('abort', hangUp)
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true }
    signal.throwIfAborted()
    if (done || !value) return Buffer.concat(chunks).toString()
    bytes += value.byteLength
    chunks.push(value)
    if (bytes <= maxAnswerBytes) continue
    hangUp()
    throw new Error('the answer is too long')
  }
}
