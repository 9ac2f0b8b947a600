// Serves the shop on a port of its own, for any gateway:
// TOLLGATE_URL=http://127.0.0.1:8080 TOLLGATE_MERCHANT_KEY=tk_... TOLLGATE_MERCHANT_SECRET=...
// TOLLGATE_IPN_SECRET=whsec_... node server.js
import { mkdirSync } from 'node:fs'
import { appendFile, readFile, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createTollgate } from '@tollgate/merchant'
import { examListener, fileStore, notificationListener } from '@tollgate/merchant/node'
import { articles, createShop, endings } from './shop.js'

const { PORT = '3000', DATA_DIR = './shop-data' } = process.env
const { SHOP_URL = `http://127.0.0.1:${PORT}` } = process.env // as customers and the gateway reach this shop
const isTest = process.env.TOLLGATE_MERCHANT_KEY?.startsWith('tk_')

const tollgate = createTollgate({
  baseUrl: process.env.TOLLGATE_URL,
  merchantKey: process.env.TOLLGATE_MERCHANT_KEY,
  merchantSecret: process.env.TOLLGATE_MERCHANT_SECRET,
  ipnSecret: process.env.TOLLGATE_IPN_SECRET,
})
const orders = fileOrders(`${DATA_DIR}/orders`)
const parcels = `${DATA_DIR}/parcels` // a line for each
const shop = createShop({
  tollgate,
  orders,
  deliver: ({ invoiceId, article }) => appendFile(parcels, `${invoiceId} ${article}\n`),
  store: fileStore(`${DATA_DIR}/notifications`),
  addresses: { ipn: `${SHOP_URL}/ipn`, back: invoiceId => `${SHOP_URL}/order?id=${invoiceId}` },
})
const notifications = notificationListener(tollgate, shop.notificationRules)

// Only for the command `exam`, which sets EXAM: it grades this shop.
const exam = examListener(tollgate, {
  createOrder: ({ invoiceId, total }) => shop.buy({ ...articles[0], total }, { invoiceId }),
  async readOrder(invoiceId) {
    const lines = (await readFile(parcels, 'utf8').catch(() => '')).split('\n')
    const deliveries = lines.filter(line => line.startsWith(`${invoiceId} `)).length
    return { status: (await orders.find(invoiceId))?.state ?? 'none', deliveries }
  },
})

createServer((req, res) => {
  answer(req, res).catch(error => {
    console.error(error)
    send(res, 500, page('Please try again', '<p>Something went wrong. Nothing was charged.</p>'))
  })
}).listen(Number(PORT), () => console.log(`The shop is open at ${SHOP_URL}`))

async function answer(req, res) {
  const { pathname, searchParams } = new URL(req.url, SHOP_URL)
  if (pathname === '/ipn') return notifications(req, res)
  if (pathname === '/exam' && process.env.EXAM) return exam(req, res)
  const picture = articles.find(({ id }) => pathname === `/pictures/${id}.svg`)
  if (picture)
    return send(res, 200, await readFile(new URL(`.${pathname}`, import.meta.url)), 'image/svg+xml')
  if (pathname === '/') return send(res, 200, page('Demo Shop', articleList()))
  if (pathname === '/buy' && req.method === 'POST') return buy(req, res)
  if (pathname === '/order') return showOrder(searchParams.get('id') ?? '', res)
  return send(res, 404, page('Not found', ''))
}

async function buy(req, res) {
  const fields = new URLSearchParams(await bodyOf(req))
  const article = articles.find(({ id }) => id === fields.get('article'))
  if (!article) return send(res, 422, page('Choose an article', articleList()))
  const { checkoutUrl } = await shop.buy(article, isTest ? { ending: fields.get('ending') ?? '' } : {})
  return res.writeHead(303, { location: checkoutUrl }).end()
}

const sentences = {
  new: 'We have not heard of your payment yet. Reload this page in a moment.',
  awaiting_payment: 'Your payment is on its way. Reload this page in a moment.',
  paid: 'Paid. Thank you.',
  failed: 'Not paid. Nothing was charged.',
  cancelled: 'Cancelled. Nothing was charged.',
}

async function showOrder(invoiceId, res) {
  const order = await shop.orderAfterReturn(invoiceId)
  if (!order) return send(res, 404, page('There is no such order', ''))
  return send(res, 200, page(`Order ${order.invoiceId}`, `<p>${sentences[order.state]}</p>`))
}

async function bodyOf(req, most = 10_000) {
  let body = ''
  for await (const part of req) if ((body += part).length > most) throw new Error('the form is too large')
  return body
}

// One file for each order, written under another name first: a crash leaves the old one or the new one, never half.
function fileOrders(folder) {
  mkdirSync(folder, { recursive: true })
  const fileOf = invoiceId => `${folder}/${encodeURIComponent(invoiceId)}.json`
  return {
    async save(order) {
      const file = fileOf(order.invoiceId)
      const draft = `${file}.${crypto.randomUUID()}`
      await writeFile(draft, JSON.stringify(order))
      await rename(draft, file)
    },
    find: invoiceId =>
      readFile(fileOf(invoiceId), 'utf8').then(JSON.parse, error => {
        if (error.code !== 'ENOENT') throw error
      }),
  }
}

const articleList = () => `<form method="post" action="/buy">
  ${isTest ? `<p><label>How should it end? <select name="ending">${endings.map(({ id, label }) => `<option value="${id}">${label}</option>`).join('')}</select></label></p>` : ''}
  ${articles.map(({ id, name, about, total }) => `<p><img src="/pictures/${id}.svg" alt="" width="208" height="152"><br><b>${name}</b>, ${about}, GHS ${total} <button name="article" value="${id}">Buy</button></p>`).join('\n  ')}
</form>`

const page = (title, body) => `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>${title}</title><h1>${title}</h1>${body}
<p><a href="/">Back to the shop</a></p></html>`

const send = (res, status, body, type = 'text/html; charset=utf-8') =>
  res.writeHead(status, { 'content-type': type }).end(body)
