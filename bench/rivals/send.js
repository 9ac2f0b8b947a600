// How a rival sends: the same bytes to the same receiver. By the client that Node comes with, as jobs are mostly written,
// and by the fastest one we know.
import { Agent, request } from 'undici'

// Of each of the 64 endpoints, so 128 in all: as many as Tollgate has in flight at most. With more, pg-boss, which sends
// its whole batch at once, opens thousands and is slower.
const connections = 2
const deadlineMs = 10_000

const dispatcher = new Agent({ connections, pipelining: 1, keepAliveTimeout: 60_000 })

const headersOf = id => ({ 'content-type': 'application/json', 'webhook-id': id })

// Returns what a log would record.
export const senders = {
  async fetch({ url, id, body }) {
    const signal = AbortSignal.timeout(deadlineMs)
    const answer = await fetch(url, { method: 'POST', headers: headersOf(id), body, signal })
    return { status: answer.status, answer: await answer.text() }
  },
  async undici({ url, id, body }) {
    const { statusCode, body: answer } = await request(url, {
      dispatcher,
      method: 'POST',
      headers: headersOf(id),
      body,
    })
    return { status: statusCode, answer: await answer.text() }
  },
}
