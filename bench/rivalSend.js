// How a rival sends: the same bytes to the same receiver, with the fastest client there is for Node.
import { Agent, request } from 'undici'

const connections = 128 // as many as Tollgate has in flight at most

const dispatcher = new Agent({ connections, pipelining: 1, keepAliveTimeout: 60_000 })

export async function send({ url, id, body }) {
  const headers = { 'content-type': 'application/json', 'webhook-id': id }
  const { statusCode, body: answer } = await request(url, { dispatcher, method: 'POST', headers, body })
  await answer.dump()
  if (statusCode !== 200) throw new Error(`The receiver answered ${statusCode}.`)
}
