import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { type Db, openDb } from '../../src/store/db.ts'
import { migratedDatabase, query } from '../support/database/database.ts'

export const key = 'the-key-of-the-gateway'
export const timeScale = 0.05

// The simulated provider on a socket, with a separate database, by default twenty times as fast, and a gateway that only
// records callbacks.
export type TestSandbox = {
  url: string
  db: Db
  logs: string[]
  callbacks: { body: any; type?: string }[] // callbacks, in the order of their arrival
  callbacksFor(reference: string, count: number): Promise<string[]> // their statuses; waits for `count` callbacks, and a little longer for one too many
  skip(ms: number): void // advances the provider's clock
  sql(text: string): ReturnType<typeof query>
  restart(): Promise<void> // a new process with the same database and port
  stop(): Promise<void>
}

export async function openTestSandbox(scale = timeScale, isForThisMachineOnly = false): Promise<TestSandbox> {
  const database = await migratedDatabase()
  const db = openDb(database.url, 4)
  const logs: string[] = []
  const heard: TestSandbox['callbacks'] = []
  let skippedMs = 0
  const clock = () => new Date(Date.now() + skippedMs)
  let { port, stop } = await listen(0)
  const url = `http://127.0.0.1:${port}`

  async function listen(atPort: number) {
    const log = {
      error: (fields: object, message: string) => void logs.push(message + JSON.stringify(fields)),
    }
    const sandbox = createSandbox({
      db,
      clock,
      key,
      formKey: Buffer.alloc(32, 7),
      baseUrl: 'http://pay.example',
      timeScale: scale,
      isForThisMachineOnly,
      log,
    })
    const app = new Hono()
    app.post('/callback', async c => {
      heard.push({ body: await c.req.json(), type: c.req.header('content-type') })
      return c.text('')
    })
    app.get('/checkout/t', c => c.html('<!doctype html><html lang="en"><title>Back</title><h1>Back</h1>'))
    app.get('/beside', c =>
      c.html(
        `<!doctype html><html lang="en"><title>Beside</title><iframe title="Phone" width="300" height="600" style="border:0"
          src="/sandbox/phone/${encodeURIComponent(c.req.query('phone') ?? '')}?framed=1"></iframe>`,
      ),
    )
    app.route('/sandbox', sandbox.app)
    const pages = getRequestListener(app.fetch)
    const server = createServer((incoming, outgoing) => void pages(incoming, outgoing))
    await once(server.listen(atPort, '127.0.0.1'), 'listening')
    return {
      port: (server.address() as AddressInfo).port,
      async stop() {
        sandbox.stop()
        server.close()
        server.closeAllConnections()
        await once(server, 'close')
      },
    }
  }

  return {
    url,
    db,
    logs,
    callbacks: heard,
    async callbacksFor(reference, count) {
      const received = () => heard.filter(({ body }) => body.externalId === reference)
      for (let tries = 0; received().length < count && tries < 500; tries++) await sleep(10)
      await sleep(50)
      return received().map(({ body }) => body.status)
    },
    skip: ms => void (skippedMs += ms),
    sql: text => query(database.url, text),
    async restart() {
      await stop()
      stop = (await listen(port)).stop
      await sleep(50) // until the clients have noticed that their old connections are closed
    },
    async stop() {
      await stop()
      await db.end()
      await database.drop()
    },
  }
}

let charges = 0
export const newReference = () => `m0m0m0m0m0attempt${++charges}x`

export const chargeBody = (site: TestSandbox, changes: object = {}) => ({
  amount: '25.00',
  currency: 'GHS',
  method: 'mtn',
  payer: '233241234567',
  payee: 'Ama Shop',
  note: 'Two straw hats',
  callback_url: `${site.url}/callback`,
  return_url: `${site.url}/checkout/t`,
  ...changes,
})

export const postCharge = (site: TestSandbox, body: object, reference = newReference(), bearer = key) =>
  fetch(`${site.url}/sandbox/provider/charges`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${bearer}`,
      'content-type': 'application/json',
      'x-reference-id': reference,
    },
    body: JSON.stringify(body),
  })

// Requests a charge and returns its reference, even if the answer is an error.
export async function createdCharge(site: TestSandbox, changes: object = {}): Promise<string> {
  const reference = newReference()
  await postCharge(site, chargeBody(site, changes), reference).catch(() => {})
  return reference
}

export async function pollCharge(site: TestSandbox, reference: string) {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${site.url}/sandbox/provider/charges/${reference}`, { headers })
  return { http: response.status, body: (await response.json()) as any }
}

// Polls until the charge has this status.
export async function waitForStatus(site: TestSandbox, reference: string, status: string) {
  for (const deadline = performance.now() + 5000; ; await sleep(10)) {
    const { body } = await pollCharge(site, reference)
    if (body.status === status) return body
    if (performance.now() > deadline) throw new Error(`still ${JSON.stringify(body)}`)
  }
}

export const getPage = async (site: TestSandbox, path: string) => {
  const response = await fetch(`${site.url}${path}`, { redirect: 'manual' })
  return { http: response.status, headers: response.headers, html: await response.text() }
}

export const postForm = async (
  site: TestSandbox,
  path: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = { origin: site.url }, // as from a page of this host
) => {
  const body = new URLSearchParams(fields)
  const response = await fetch(`${site.url}${path}`, { method: 'POST', headers, body, redirect: 'manual' })
  return {
    http: response.status,
    to: response.headers.get('location'),
    headers: response.headers,
    html: await response.text(),
  }
}
