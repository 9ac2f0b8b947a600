import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'

const { en } = step

const journeys = openJourneys()

type Sent = { path: string; origin?: string; site?: string }
type OldWay = { url: string; sent: Sent[]; stop(): void }

// A proxy that rewrites Host and removes the headers that older browsers do not send.
async function oldBrowserTo(url: () => string): Promise<OldWay> {
  const sent: Sent[] = []
  const pass = (incoming: IncomingMessage) => {
    const headers: IncomingHttpHeaders = { ...incoming.headers, host: 'internal:8080' }
    for (const name of Object.keys(headers)) if (name.startsWith('sec-fetch-')) delete headers[name]
    if (incoming.method === 'POST') {
      const { origin, 'sec-fetch-site': site } = incoming.headers
      sent.push({ path: incoming.url ?? '', origin, site: String(site) })
    }
    return request(url() + incoming.url, { method: incoming.method, headers })
  }
  const server = createServer((incoming, outgoing) => {
    const passed = pass(incoming)
    passed.on('response', answer => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent, stop }
}

let old: OldWay
beforeAll(async () => {
  old = await oldBrowserTo(() => journeys.gateway.url)
})
afterAll(() => old.stop())

const throughOld = (address: string) => old.url + new URL(address).pathname

describe('a browser that sends Origin: null and nothing else', () => {
  journeys.journey('pays, by the token of the form', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(throughOld(sale.address))
    await step.press(page, step.fr.name) // the same form, to another address
    await step.press(page, en.name)
    await step.payWithWallet(page, 'MTN MoMo', '0244')
    await page.getByRole('alert').waitFor()
    await step.payWithWallet(page, 'MTN MoMo', '0241234567')
    await step.sees(page, en.wait.prompt)
    await step.takeExit(page, 'number')
    await step.payWithWallet(page, 'MTN MoMo', '0240000000')
    await step.seesPaid(page)
    const ours = old.sent.filter(({ path }) => path.includes(new URL(sale.address).pathname))
    expect(new Set(ours.map(({ path }) => path.split(/[/?]/)[3]))).toEqual(
      new Set(['words', 'pay', 'give-up']),
    )
    expect(ours.map(({ origin }) => origin)).toEqual(ours.map(() => 'null'))
  })

  journeys.journey('cancels, and approves on the test phone', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(throughOld(sale.address))
    await step.follow(page, en.choose.cancel)
    await step.press(page, en.cancel.yes)
    await step.sees(page, en.cancelled.title)
    const other = await journeys.shopAsksFor()
    await page.goto(throughOld(other.address))
    await step.payWithWallet(page, 'MTN MoMo', '0241234567')
    const [attempt] = await other.attempts()
    await page.goto(`${old.url}/sandbox/phone/${attempt?.attempt_id}`)
    await page.getByLabel(en.sandbox.prompt.pin).fill('1234')
    await step.press(page, en.sandbox.prompt.approve)
    await step.sees(page, en.sandbox.endings.approved)
  })
})

journeys.journey(
  'a form of another site is refused with a page whose link opens the payment',
  async ({ page, faults }) => {
    const sale = await journeys.shopAsksFor()
    const form = `<form method="post" action="${sale.address}/cancel"><button>Win a prize</button></form>`
    const frame = `<iframe sandbox="allow-forms allow-top-navigation-by-user-activation" srcdoc='${form.replace('<form', '<form target="_top"')}'></iframe>`
    await page.route('http://evil.example/**', route =>
      route.fulfill({ contentType: 'text/html', body: `<!doctype html><title>Prize</title>${form}${frame}` }),
    )
    for (const place of [page, page.frameLocator('iframe')]) {
      await page.goto('http://evil.example/')
      await place.getByRole('button', { name: 'Win a prize' }).first().click()
      await step.sees(page, en.trouble.elsewhere)
      await step.reads(page, 'For your safety we did nothing.')
      expect(faults.splice(0)).toEqual(['outside: GET http://evil.example/'])
    }
    await step.follow(page, en.trouble.open)
    await page.getByText(en.choose.how).waitFor()
    expect(await sale.statusOf()).toMatchObject({ status: 'awaiting_payment' })
  },
)
