import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'
import { createTollgate, memoryStore } from '#sdk'
import { articles, createShop, demoCustomer, endings } from '../../examples/shop/shop.js'
import { type DemoCredentials, findDemoCredentials, findDemoPayment } from '../actions/merchants/demoShop.ts'
import type { Config } from '../config.ts'
import type { Medium } from '../core/message/messenger.ts'
import type { Db } from '../store/db.ts'
import type { MasterKeys } from '../store/merchants/vault.ts'
import type { DemoShop, OpenShop, ReceivedNotification, SentRequest } from '../web/shop/demoShop.ts'

const openForMs = 5000 // how long the credentials are used before they are read again: a key may be rotated
const mostRemembered = 1000 // orders, requests and notifications, each
const maxInFlight = 10 // requests of the shop to the gateway: a crowd of visitors must not open a connection each

type ShopDeps = {
  db: Db
  masterKeys: MasterKeys
  clock(): Date
  url: string // the gateway's own address: the shop is a merchant that happens to run in the same process
  baseUrl: string
  isSent(medium: Medium): boolean
  log: Logger
}
type ShopOrder = Parameters<Parameters<typeof createShop>[0]['orders']['save']>[0]

// The demo shop: examples/shop, mounted in the gateway. It uses the SDK and the gateway's public interface like any
// other merchant, and nothing else, except that the gateway passes it the demo merchant's keys. Its files are read
// here, because a gateway that has dropped root privileges may not be able to read them later.
export function openDemoShop({ TOLLGATE_SANDBOX }: Config, deps: ShopDeps): DemoShop | undefined {
  if (!TOLLGATE_SANDBOX) return undefined // nobody could pay
  const { masterKeys, clock, isSent } = deps
  const db = deps.db.withQuota('shop')
  const requests = createMemory<SentRequest>()
  const notifications = createMemory<ReceivedNotification>()
  const orders = shopOrders(db)
  const store = memoryStore()
  const send = limitFetch() // one limit, although the shop is opened anew whenever its credentials are read
  let opened: { at: number; shop: Promise<OpenShop | undefined> } | undefined

  async function open() {
    const credentials = await findDemoCredentials(db, masterKeys, clock())
    return credentials && openWith(credentials, { ...deps, send, requests, notifications, orders, store })
  }

  return {
    articles,
    endings: isSent('sms') ? [] : endings,
    pictures: new Map(articles.map(({ id }) => [id, readFileSync(exampleFile(`pictures/${id}.svg`))])),
    code: ['shop.js', 'server.js'].map(name => ({ name, text: readFileSync(exampleFile(name), 'utf8') })),
    open() {
      const now = performance.now()
      if (!opened || now - opened.at > openForMs) opened = { at: now, shop: open() }
      const { shop } = opened
      return shop.catch((error: unknown) => {
        opened = undefined // the next request tries again
        throw error
      })
    },
    requestOf: invoice_id => requests.get(`${requestPath} ${invoice_id}`),
    refundRequestOf: invoice_id => requests.get(`${refundPath} ${invoice_id}`),
    receivedBy: notifications.get,
  }
}

const requestPath = '/v1/mobile_agents_v2'
const refundPath = '/v1/refunds'

const exampleFile = (name: string) => new URL(`../../examples/shop/${name}`, import.meta.url)

type OpenDeps = ShopDeps & {
  send: typeof fetch
  requests: Memory<SentRequest>
  notifications: Memory<ReceivedNotification>
  orders: ReturnType<typeof shopOrders>
  store: ReturnType<typeof memoryStore>
}

function openWith(credentials: DemoCredentials, deps: OpenDeps): OpenShop {
  const { url, baseUrl, isSent, requests, notifications, orders, store, log } = deps
  const tollgate = createTollgate({
    baseUrl: url,
    merchantKey: credentials.merchant_key,
    merchantSecret: credentials.secret_key,
    ipnSecret: credentials.ipn_secrets,
    fetch: rememberRequests(deps.send, requests, baseUrl),
  })
  const shop = createShop({
    tollgate,
    orders,
    store,
    deliver: ({ invoiceId }) => log.debug({ invoice_id: invoiceId }, 'the demo shop delivers an order'),
    addresses: {
      ipn: `${baseUrl}/shop/ipn`,
      back: invoiceId => `${baseUrl}/shop/return?order=${invoiceId}`,
    },
    // The addresses are made up, so nothing may really be sent to them.
    customerOf(invoiceId, ending) {
      const { name, email, phone } = demoCustomer(invoiceId, ending)
      return { name, email: isSent('email') ? undefined : email, phone: isSent('sms') ? undefined : phone }
    },
  })

  const onError = (error: Error) =>
    log.debug({ error: error.message }, 'the demo shop refused a notification')

  async function receive(rawBody: Buffer, headers: IncomingHttpHeaders): Promise<Response> {
    const response = await tollgate.handleNotification({
      ...shop.notificationRules,
      rawBody,
      headers,
      onError,
    })
    const shown = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
    if (response.status === 200)
      notifications.set(String(headers['webhook-id']), {
        headers: Object.fromEntries(shown.map(name => [name, String(headers[name])])),
        body: rawBody.toString('utf8'),
        answer: await response.clone().text(),
      })
    return response
  }

  const { buy, orderAfterReturn, refund } = shop
  return { name: credentials.name, buy, orderAfterReturn, refund, receive }
}

// Refuses a request beyond the limit. The SDK repeats it after a pause, as after a lost connection.
function limitFetch(): typeof fetch {
  let inFlight = 0
  return async (input, init) => {
    if (inFlight >= maxInFlight) throw new Error('Many visitors are buying. Try again in a moment.')
    inFlight++
    return fetch(input, init).finally(() => inFlight--)
  }
}

// The fetch of the SDK, which also remembers each request of a payment or a refund and its answer for the panel.
function rememberRequests(send: typeof fetch, requests: Memory<SentRequest>, baseUrl: string): typeof fetch {
  return async (input, init) => {
    const started = performance.now()
    const response = await send(input, init)
    const ms = Math.max(1, Math.round(performance.now() - started))
    const { pathname } = new URL(String(input))
    if (init?.method !== 'POST' || !(init.body instanceof Uint8Array)) return response
    const body = Buffer.from(init.body).toString('utf8')
    const { invoice_id }: { invoice_id?: unknown } = JSON.parse(body)
    const answer = await response.clone().text()
    const request = { url: baseUrl + pathname, body, http: response.status, ms, answer }
    requests.set(`${pathname} ${String(invoice_id)}`, request)
    return response
  }
}

// The orders are in memory. An order from before a restart is found again by its payment: the payment names the
// article, and the price is that of the shop, never the payment's.
function shopOrders(db: Db) {
  const saved = createMemory<ShopOrder>()
  return {
    async save(order: ShopOrder) {
      saved.set(order.invoiceId, order)
    },
    async find(invoiceId: string): Promise<ShopOrder | undefined> {
      const known = saved.get(invoiceId)
      if (known) return known
      const payment = await findDemoPayment(db, invoiceId)
      const article = articles.find(({ id }) => id === payment?.extra.article)
      return (
        article && { invoiceId, article: article.id, total: article.total, currency: 'GHS', state: 'new' }
      )
    },
  }
}

type Memory<Value> = { get(key: string): Value | undefined; set(key: string, value: Value): void }

// The newest values. A Map has the order of insertion, so the first is the oldest.
function createMemory<Value>(): Memory<Value> {
  const values = new Map<string, Value>()
  return {
    get: key => values.get(key),
    set(key, value) {
      values.delete(key)
      values.set(key, value)
      if (values.size > mostRemembered) values.delete(values.keys().next().value as string)
    },
  }
}
