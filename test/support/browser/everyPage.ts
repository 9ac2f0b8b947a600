import type { Page } from 'playwright-core'
import { sql } from '../../../src/store/db.ts'
import { openPaystack } from '../../simulators/paystack/paystack.ts'
import { type TestGateway, testGateway } from '../gateway/gateway.ts'
import { preparePayments, shopOf } from '../checkout/stages.ts'

// A page of the gateway. `open` navigates to it as a user would and returns the HTTP status.
export type PageToOpen = { name: string; http: number; open(page: Page): Promise<number> }
export type EveryPage = { gateway: TestGateway; all: PageToOpen[]; stop(): Promise<void> }

const pressPay = (page: Page) => page.locator('main form [type=submit]').first().click()

// Every page, each with its own payment, on a gateway whose clock is stopped.
export async function openEveryPage(): Promise<EveryPage> {
  let standing: Date | undefined
  const time = { run: () => void (standing = undefined), stop: (at: Date) => void (standing = at) }
  const paystack = await openPaystack()
  const gateway = await testGateway(
    { PAYSTACK_SECRET_KEY: 'sk_test_simulated', PAYSTACK_URL: paystack.url },
    { clock: () => standing ?? new Date(), sandboxPace: 0.05 },
  )
  const shop = shopOf(gateway)
  const is = await preparePayments(gateway, time)
  const all: PageToOpen[] = []
  const add = (name: string, path: string, http = 200) =>
    all.push({
      name,
      http,
      open: async page => (await page.goto(gateway.url + path))?.status() ?? 0,
    })
  const addCheckout = (name: string, path: string, http = 200) => add(name, `/checkout/${path}`, http)
  // The visit that saw the payment end; it leaves by itself every time the page is opened.
  const addLeaving = (name: string, token: string) =>
    all.push({
      name,
      http: 200,
      async open(page) {
        await gateway.db.rows(sql`update payments set left_by = '{}' where tx_token = ${token}`)
        return (await page.goto(`${shop.at(token)}?visit=one`))?.status() ?? 0
      },
    })
  const addPressed = (name: string, path: string, http: number, press: (page: Page) => Promise<unknown>) =>
    all.push({
      name,
      http,
      async open(page) {
        await page.goto(path.startsWith('data:') ? path : gateway.url + path)
        const answered = page.waitForResponse(response => response.request().method() === 'POST')
        await press(page)
        const status = (await answered).status()
        await page.waitForLoadState()
        return status
      },
    })

  addCheckout('choose', is.fresh)
  addCheckout('choose-known', is.known)
  all.push({
    name: 'choose-test-numbers',
    http: 200,
    async open(page) {
      const answer = await page.goto(shop.at(is.fresh))
      await page.locator('.tables summary').click()
      return answer?.status() ?? 0
    },
  })
  addPressed('choose-nothing-chosen', `/checkout/${is.fresh}`, 422, pressPay)
  addPressed('choose-faults', `/checkout/${is.fresh}`, 422, async page => {
    await page.locator('#telecel_cash').check()
    await page.locator('[name="telecel_cash.phone"]').fill('0244 12')
    await pressPay(page)
  })
  addCheckout('choose-again', `${is.failed}?again=same`)
  addCheckout('choose-other', `${is.failed}?again=other`)
  addPressed('choose-too-soon', `/checkout/${is.hurried}?again=same`, 429, pressPay)
  addPressed('choose-too-many', `/checkout/${is.crowded}?again=same`, 429, pressPay)
  addCheckout('wait-prompt', is.waiting)
  addCheckout('wait-unknown', is.unknown)
  addCheckout('wait-card', is.cardWaits)
  addCheckout('wait-qr', is.qr)
  addCheckout('wait-bank', is.cardBack)
  addCheckout('step', is.step)
  addCheckout('step-again', is.stepAgain)
  addCheckout('step-voucher', is.stepVoucher)
  addCheckout('wait-none-left', is.stepNoneLeft)
  addPressed('step-too-soon', `/checkout/${is.stepAgain}`, 429, async page => {
    await page.locator('#otp').fill('222222')
    await pressPay(page)
  })
  addPressed('step-faults', `/checkout/${is.step}`, 422, async page => {
    await page.locator('#otp').fill('I23456')
    await pressPay(page)
  })
  addCheckout('choose-email', is.asksEmail)
  addPressed('choose-email-faults', `/checkout/${is.asksEmail}`, 422, pressPay)
  addCheckout('wait-given-up', is.givenUp)
  addCheckout('choose-given-up', is.withdrawn)
  addCheckout('disputed', is.disputed)
  addCheckout('failed', is.failed)
  addCheckout('failed-soon', is.hurried)
  addCheckout('over', is.over)
  addCheckout('expired', is.expired, 410)
  addCheckout('cancel', `${is.fresh}/cancel`)
  addCheckout('cancel-unresolved', `${is.waiting}/cancel`)
  addCheckout('cancelled', is.cancelled)
  addCheckout('cancelled-wished', is.wished)
  addLeaving('paid-leaving', is.paid)
  addLeaving('cancelled-leaving', is.cancelledOwn)
  addCheckout('paid', is.paid)
  addCheckout('paid-other-host', is.paidStrict)
  addCheckout('receipt', `${is.paid}/receipt`)
  addCheckout('receipt-card', `${is.paidByCard.token}/receipt`)
  addCheckout('closed', is.closed)
  addCheckout('nowhere', is.live)
  addCheckout('lost', 'no-such-payment', 404)
  const foreign = `<title>Elsewhere</title><main><form method=post action=${shop.at(`${is.fresh}/cancel`)}><button type=submit>Win`
  addPressed('elsewhere', `data:text/html,${encodeURIComponent(foreign)}`, 403, pressPay)
  addPressed('unreadable', `/checkout/${is.fresh}`, 415, async page => {
    await page.evaluate("document.querySelector('main form').enctype = 'text/plain'")
    await pressPay(page)
  })
  add('form-door', '/gateway?invoice_id=AMA-1042&total=five', 400)

  add('sandbox-phone', '/sandbox/phone')
  add('sandbox-phone-number', '/sandbox/phone?number=0244123456')
  add('sandbox-phone-nothing', '/sandbox/phone?number=0249999999')
  add('sandbox-phone-wrong', '/sandbox/phone?number=hello', 422)
  add('sandbox-prompt', `/sandbox/phone/${await shop.attempt(is.waiting)}`)
  add('sandbox-prompt-decided', `/sandbox/phone/${await shop.attempt(is.declined)}`)
  add('sandbox-card', `/sandbox/card/${await shop.attempt(is.cardWaits)}`)
  addPressed('sandbox-card-faults', `/sandbox/card/${await shop.attempt(is.cardWaits)}`, 422, pressPay)
  add('sandbox-3ds', `/sandbox/card/${is.secure.charge}/3ds`)
  addPressed('sandbox-3ds-missing', `/sandbox/card/${is.secure.charge}/3ds`, 422, pressPay)
  add('sandbox-card-over', `/sandbox/card/${is.paidByCard.charge}`)
  add('sandbox-lost', '/sandbox/card/nowhere', 404)

  const addSupport = (name: string, path: string, http = 200) =>
    all.push({
      name,
      http,
      async open(page) {
        await page.goto(await gateway.supportLink())
        return (await page.goto(gateway.url + path))?.status() ?? 0
      },
    })
  add('support-signed-out', '/support', 401)
  addSupport('support-search', '/support')
  addSupport('support-found-paid', `/support?q=${await shop.reference(is.paid)}`)
  addSupport('support-found-disputed', `/support?q=${await shop.reference(is.disputed)}`)
  addSupport('support-not-found', '/support?q=TG-000000-000000-000000', 404)
  addSupport('support-several', '/support?q=AMA-1042')
  const stop = async () => {
    await paystack.stop()
    await gateway.stop()
  }
  return { gateway, all, stop }
}
