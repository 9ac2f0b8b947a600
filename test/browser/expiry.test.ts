import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'

const { en } = step
const minuteMs = 60_000
const testMs = 100_000

let aheadMs = 0
// A prompt waits for 10 minutes here, longer than the payments of the tests.
const journeys = openJourneys({ sandboxPace: 2, clock: () => new Date(Date.now() + aheadMs) })

const newSale = async () => journeys.shopAsksFor({}, await journeys.gateway.addMerchant('expiry_minutes=5'))
type Sale = Awaited<ReturnType<typeof newSale>>
type Scene = (page: Page, sale: Sale) => Promise<void>

// One customer with scripts and one without open the payment, then it expires for both.
async function timePasses(before: Scene, minutes: number, after: Scene) {
  const visits = await Promise.all(
    [true, false].map(async scripts => {
      const customer = await journeys.newCustomer({ scripts })
      const sale = await newSale()
      await customer.page.goto(sale.address)
      await before(customer.page, sale)
      return { ...customer, sale }
    }),
  )
  aheadMs += minutes * minuteMs
  await Promise.all(
    visits.map(async ({ page, sale, faults, close }) => {
      await after(page, sale)
      expect(faults).toEqual([])
      await close()
    }),
  )
}

const asksThePhone = async (page: Page) => {
  await step.payWithWallet(page, 'MTN MoMo', '0241234567')
  await step.sees(page, en.wait.prompt)
}

async function seesExpired(page: Page) {
  await step.sees(page, en.expired.title)
  await step.reads(page, 'Nothing was charged. Go back to Ama Shop and start again.')
  expect(await page.getByRole('radio').count()).toBe(0)
  expect(await page.getByRole('link', { name: en.failed.again }).count()).toBe(0)
  expect((await page.goto(page.url()))?.status()).toBe(410)
  await step.sees(page, en.expired.title)
}

test(
  'an expired payment cannot be paid, and an old form starts nothing',
  async () => {
    await timePasses(
      async page => {
        expect(await page.getByRole('main').innerText()).toMatch(/\b(5|4) min( \d+ s)? left/)
        await step.fillWallet(page, 'MTN MoMo', '0240000000')
      },
      5,
      async (page, sale) => {
        await step.pressPay(page)
        await seesExpired(page)
        await sale.becomes('failed')
        const status_reason = 'The checkout expired before it was paid.'
        expect(await sale.statusOf()).toMatchObject({ status_reason, payment_method: null })
        expect(await sale.attempts()).toEqual([])
      },
    )
  },
  testMs,
)

test(
  'an unresolved attempt outlives the expiry, and its money counts',
  async () => {
    await timePasses(asksThePhone, 6, async (page, sale) => {
      expect((await page.goto(sale.address))?.status()).toBe(200)
      await step.sees(page, en.wait.prompt)
      expect(await page.getByRole('main').innerText()).not.toMatch(/ left\b/)
      expect(await sale.statusOf()).toMatchObject({ status: 'awaiting_payment' })
      await step.decideOnTestPhone(page, 'Approve')
      await step.seesPaid(page)
      expect(await sale.history()).toEqual(['paid'])
    })
  },
  testMs,
)

test(
  'an attempt that fails after the expiry allows no second try',
  async () => {
    await timePasses(asksThePhone, 6, async (page, sale) => {
      await step.decideOnTestPhone(page, 'Decline')
      await seesExpired(page)
      const status_reason = 'The customer declined on the phone.'
      expect(await sale.statusOf()).toMatchObject({ status: 'failed', status_reason })
    })
  },
  testMs,
)

test(
  'an expired payment that has failed cannot be tried again',
  async () => {
    await timePasses(
      async page => {
        await step.payWithWallet(page, 'MTN MoMo', '0240000003')
        await step.seesFailed(page, 'declined')
      },
      5,
      async (page, sale) => {
        await step.follow(page, en.failed.again)
        await seesExpired(page)
        expect(await sale.attempts()).toHaveLength(1)
        expect(await sale.history()).toEqual(['failed'])
      },
    )
  },
  testMs,
)

for (const [name, part] of [
  ['', ''],
  [', also after a jump to a field', '#mtn_mobile_money'],
] as const)
  test(
    `with scripts the page shows the expiry without a reload by the customer${name}`,
    async () => {
      await journeys.walk({}, async ({ page }) => {
        const sale = await newSale()
        aheadMs += 5 * minuteMs - 5_000
        await page.goto(sale.address + part)
        await step.sees(page, en.expired.title)
      })
    },
    testMs,
  )
