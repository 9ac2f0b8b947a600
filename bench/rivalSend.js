// How a rival sends: the same bytes to the same receiver. By the client that Node comes with, as jobs are mostly written,
// and by the fastest one there is.
import { Agent, request } from 'undici'

const connections = 128 // as many as Tollgate has in flight at most
const deadlineMs = 10_000

const dispatcher = new Agent({ connections, pipelining: 1, keepAliveTimeout: 60_000 })

const headersOf = id => ({ 'content-type': 'application/json', 'webhook-id': id })

function check(status) {
  if (status !== 200) throw new Error(`The receiver answered ${status}.`)
}

export const senders = {
  async fetch({ url, id, body }) {
    const signal = AbortSignal.timeout(deadlineMs)
    const answer = await fetch(url, { method: 'POST', headers: headersOf(id), body, signal })
    await answer.text()
    check(answer.status)
  },
  async undici({ url, id, body }) {
    const { statusCode, body: answer } = await request(url, {
      dispatcher,
      method: 'POST',
      headers: headersOf(id),
      body,
    })
    await answer.dump()
    check(statusCode)
  },
}
