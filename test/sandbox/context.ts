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
export const pace = 0.05

// The simulated provider on a socket and a database of its own, twenty times as fast unless told otherwise, and a gateway that only hears.
export type TestHouse = {
  url: string
  db: Db
  logs: string[]
  heard: { body: any; type?: string }[] // callbacks, in the order of their arrival
  heardOf(reference: string, count: number): Promise<string[]> // waits for as many, then a little for one too many
  skip(ms: number): void // puts the provider's clock forward
  sql(text: string): ReturnType<typeof query>
  restart(): Promise<void> // another process on the same books and the same port
  stop(): Promise<void>
}

export async function openHouse(fast = pace): Promise<TestHouse> {
  const database = await migratedDatabase()
  const db = openDb(database.url, 4)
  const logs: string[] = []
  const heard: TestHouse['heard'] = []
  let skippedMs = 0
  const clock = () => new Date(Date.now() + skippedMs)
  let { port, stop } = await listen(0)
  const url = `http://127.0.0.1:${port}`

  async function listen(wanted: number) {
    const log = { error: (fields: object, words: string) => void logs.push(words + JSON.stringify(fields)) }
    const sandbox = createSandbox({
      db,
      clock,
      key,
      formKey: Buffer.alloc(32, 7),
      baseUrl: 'http://pay.example',
      pace: fast,
      log,
    })
    const app = new Hono()
    app.post('/callback', async c => {
      heard.push({ body: await c.req.json(), type: c.req.header('content-type') })
      return c.text('')
    })
    app.get('/checkout/t', c => c.html('<!doctype html><html lang="en"><title>Back</title><h1>Back</h1>'))
    app.route('/sandbox', sandbox.app)
    const pages = getRequestListener(app.fetch)
    const server = createServer((incoming, outgoing) => void pages(incoming, outgoing))
    await once(server.listen(wanted, '127.0.0.1'), 'listening')
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
    heard,
    async heardOf(reference, count) {
      const told = () => heard.filter(({ body }) => body.externalId === reference)
      for (let tries = 0; told().length < count && tries < 500; tries++) await sleep(10)
      await sleep(50)
      return told().map(({ body }) => body.status)
    },
    skip: ms => void (skippedMs += ms),
    sql: text => query(database.url, text),
    async restart() {
      await stop()
      stop = (await listen(port)).stop
      await sleep(50) // until the clients know that their old connections are gone
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

export const chargeBody = (house: TestHouse, changes: object = {}) => ({
  amount: '25.00',
  currency: 'GHS',
  method: 'mtn',
  payer: '233241234567',
  payee: 'Ama Shop',
  note: 'Two straw hats',
  callback_url: `${house.url}/callback`,
  return_url: `${house.url}/checkout/t`,
  ...changes,
})

export const postCharge = (house: TestHouse, body: object, reference = newReference(), bearer = key) =>
  fetch(`${house.url}/sandbox/provider/charges`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${bearer}`,
      'content-type': 'application/json',
      'x-reference-id': reference,
    },
    body: JSON.stringify(body),
  })

// A charge that was taken, by its reference.
export async function taken(house: TestHouse, changes: object = {}): Promise<string> {
  const reference = newReference()
  await postCharge(house, chargeBody(house, changes), reference).catch(() => {})
  return reference
}

export async function lookUp(house: TestHouse, reference: string) {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${house.url}/sandbox/provider/charges/${reference}`, { headers })
  return { http: response.status, body: (await response.json()) as any }
}

// Asks until it stands as wanted.
export async function until(house: TestHouse, reference: string, status: string) {
  for (const deadline = performance.now() + 5000; ; await sleep(10)) {
    const { body } = await lookUp(house, reference)
    if (body.status === status) return body
    if (performance.now() > deadline) throw new Error(`still ${JSON.stringify(body)}`)
  }
}

export const getPage = async (house: TestHouse, path: string) => {
  const response = await fetch(`${house.url}${path}`, { redirect: 'manual' })
  return { http: response.status, headers: response.headers, html: await response.text() }
}

export const postForm = async (
  house: TestHouse,
  path: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = { origin: house.url }, // as from a page of this host
) => {
  const body = new URLSearchParams(fields)
  const response = await fetch(`${house.url}${path}`, { method: 'POST', headers, body, redirect: 'manual' })
  return {
    http: response.status,
    to: response.headers.get('location'),
    headers: response.headers,
    html: await response.text(),
  }
}
