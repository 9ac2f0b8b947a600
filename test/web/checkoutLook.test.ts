import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CancelPage } from '../../src/web/checkout/cancel.tsx'
import { ChoosePage } from '../../src/web/checkout/choose.tsx'
import { pageHeaders } from '../../src/web/checkout/pageHeaders.ts'
import { ReceiptPage } from '../../src/web/checkout/receipt.tsx'
import { stagePage } from '../../src/web/checkout/stagePage.tsx'
import type { Lang } from '../../src/web/checkout/texts.ts'
import type { Env } from '../../src/web/context.ts'
import { publicFile } from '../../src/web/publicFile.ts'
import { axeFaults } from '../support/axe.ts'
import { overflow, smallTargets } from '../support/browser/measure.ts'
import { openBrowser, type TestBrowser } from '../support/browser.ts'
import { scenes, viewOf } from '../support/checkout.ts'

let browser: TestBrowser
let server: Server
let url: string

// The pages as they are, without a payment behind them. Nobody leaves for a shop here.
const stay = { success_url: null, cancelled_url: null }
const long = {
  merchant_name: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft 🎩',
  description: `${'w'.repeat(150)} 🎩`,
  invoice_id: 'i'.repeat(60),
  total: 999_999_999_999n,
}
const wrong = {
  chosen: 'telecel_cash',
  typed: { 'telecel_cash.phone': '0244 12' },
  faults: [
    { field: 'telecel_cash.phone', words: 'Your number: this is not a complete number.' },
    { field: '', words: 'Wait 5 seconds, then try again.' },
  ],
}
const faults = { view: viewOf(), form: wrong }

const draw: Record<string, (lang: Lang) => { toString(): string | Promise<string> }> = {
  ...Object.fromEntries(
    Object.entries(scenes).map(([name, scene]) => [
      name,
      (lang: Lang) => stagePage(viewOf({ ...scene, ...stay }, lang)),
    ]),
  ),
  long: lang => stagePage(viewOf(long, lang)),
  longWait: lang => stagePage(viewOf({ ...scenes.wait, ...long }, lang)),
  longPaid: lang => stagePage(viewOf({ ...scenes.paidHere, ...long }, lang)),
  faults: lang => ChoosePage({ ...faults, view: viewOf({}, lang) }),
  cancel: lang => CancelPage({ view: viewOf({ ...scenes.wait, ...stay }, lang) }),
  receipt: lang => ReceiptPage({ view: viewOf(scenes.paid, lang) }),
}

beforeAll(async () => {
  const app = new Hono<Env>()
  app.get('/public/:file', publicFile(new URL('../../src/web/public/', import.meta.url)))
  app.get('/:scene/:lang', async c => {
    const html = String(await draw[c.req.param('scene')]?.(c.req.param('lang') as Lang).toString())
    return c.html(html.replace(/ data-poll="\d+"/, ''), 200, pageHeaders)
  })
  const answer = getRequestListener(app.fetch)
  server = createServer((incoming, outgoing) => void answer(incoming, outgoing)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  server.close()
})

for (const [what, lang, options] of [
  ['on a very small phone', 'en', { width: 320 }],
  ['on a phone in the dark, in French', 'fr', { width: 360, dark: true }],
  ['on a wide screen', 'en', { width: 1280, height: 800 }],
] as const) {
  test(`every page can be read and used by everybody, ${what}`, { timeout: 120_000 }, async () => {
    const customer = await browser.newCustomer(options)
    for (const name of Object.keys(draw)) {
      await customer.page.goto(`${url}/${name}/${lang}`)
      expect(await axeFaults(customer.page), name).toEqual([])
      expect(await overflow(customer.page), `${name} is too wide`).toBe(false)
      expect(await smallTargets(customer.page), name).toEqual([])
    }
    expect(customer.faults).toEqual([])
    await customer.close()
  })
}
