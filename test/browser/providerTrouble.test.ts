import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { fill } from '../../src/core/text.ts'
import { axeFaults } from '../support/browser/axe.ts'
import type { TestMerchant } from '../support/gateway/gateway.ts'
import {
  newNumber,
  openPaystackJourneys,
  payByNumber,
  seesStep,
  typeCode,
} from '../support/journeys/providerJourneys.ts'
import * as step from '../support/journeys/steps.ts'
import { shopOf } from '../support/checkout/stages.ts'

const { en } = step
const email = 'kofi@example.test'
const desk = { width: 1280, height: 800 }
const slowly = { timeout: 300_000 }
const comesBack = 90_000 // a start or a step has half a minute, and so often it is asked whether all is well again

// In live mode, because in test mode the sandbox would replace a failing provider.
const journeys = openPaystackJourneys('sk_live_played')
let shop: TestMerchant

beforeAll(async () => {
  const merchant = await journeys.gateway.addMerchant()
  shop = { ...merchant, test: merchant.live }
})

const sell = () => journeys.shopAsksFor({ email }, shop)

const labelled = (page: Page, words: string, way: string) =>
  page.locator('.trouble', { hasText: fill(words, { method: way }) })

// Other customers, whose attempts make the problems measurable.
async function othersPay(count: number) {
  const { pay } = shopOf(journeys.gateway)
  const buy = async () => {
    const { address } = await sell()
    const token = address.split('/').at(-1) ?? ''
    const number = newNumber()
    await pay(token, { payment_method: 'mtn_mobile_money', 'mtn_mobile_money.phone': number })
    return { token, number }
  }
  return Promise.all(Array.from({ length: count }, buy))
}

// On a phone and a wide screen, with scripts and without: the page is reloaded until the text is shown.
async function everybodySees(
  words: string,
  way: string,
  picture: string,
  go: (page: Page) => Promise<unknown>,
) {
  const { address } = await sell()
  for (const options of [{}, { scripts: false }, desk, { ...desk, scripts: false }])
    await journeys.walk(options, async ({ page, shoot }) => {
      const look = async () => {
        await page.goto(address)
        return labelled(page, words, way).count()
      }
      await expect.poll(look, { timeout: 30_000 }).toBe(1)
      await go(page)
      expect(await axeFaults(page)).toEqual([])
      await shoot(picture)
    })
}

test('a method that often fails is labelled as degraded, comes last, and still pays', slowly, async () => {
  journeys.provider.rule({ times: 2, story: { ends: 'failed', says: 'The network is unavailable' } })
  journeys.provider.rule({ times: 3, story: { ends: 'success' } })
  const { until } = shopOf(journeys.gateway)
  for (const { token } of await othersPay(5))
    await Promise.any(['paid', 'failed'].map(stage => until(token, stage)))
  await everybodySees(en.health.degraded, 'MTN MoMo', 'provider-degraded', async page => {
    const ways = page.locator('.method > input')
    expect(await ways.evaluateAll(all => all.map(({ id }) => id))).toEqual([
      'telecel_cash',
      'airteltigo_money',
      'card',
      'mtn_mobile_money',
    ])
    await page.getByRole('radio', { name: 'MTN MoMo' }).check()
  })
  const sale = await sell()
  const number = newNumber()
  journeys.provider.rule({ number, story: { ends: 'success' } })
  await journeys.walk({}, async ({ page }) => {
    await page.goto(sale.address)
    await payByNumber(page, 'MTN MoMo', number)
    await step.seesPaid(page)
  })
})

// The answer to a submission is lost. The customer sees the waiting page, and then the provider's result.
for (const hasTaken of [true, false])
  test(`${hasTaken ? 'the answer to a code' : 'a code'} is lost`, slowly, async () => {
    for (const scripts of [true, false])
      await journeys.walk({ scripts }, async ({ page }) => {
        const number = newNumber('026')
        journeys.provider.rule({ number, story: { asks: 'send_otp' } })
        const sale = await sell()
        await page.goto(sale.address)
        await payByNumber(page, 'AT Money', number)
        await seesStep(page)
        journeys.provider.weather = { trouble: 'silence', hasTaken, at: '/charge/submit_otp', times: 1 }
        await typeCode(page, '123456')
        await step.sees(page, en.wait.prompt)
        if (!hasTaken) {
          await page.getByText('AT Money asks again.').waitFor({ timeout: comesBack }) // once nobody waits for the answer
          await typeCode(page, '123456')
          await step.sees(page, en.wait.prompt)
        }
        const charges = journeys.provider.book().filter(({ phone }) => phone === number)
        expect(charges).toMatchObject([{ tries: 1, asks: 'pay_offline' }])
        journeys.provider.approve(charges[0]?.reference ?? '')
        await step.seesPaid(page)
        expect(await sale.attempts()).toMatchObject([{ state: 'paid', submits: hasTaken ? 1 : 2 }])
      })
  })

test('a dead provider is labelled, gets no order, and recovers automatically', slowly, async () => {
  journeys.provider.weather = { trouble: 'cut' }
  await othersPay(6)
  await everybodySees(en.health.down, 'MTN MoMo', 'provider-dead', async page =>
    expect(await page.locator('.trouble').count()).toBe(4),
  )
  // From time to time an order is sent as a probe. Until it is answered, and for some time after, no other is sent.
  const { address } = await sell()
  await journeys.walk({}, async ({ page, shoot }) => {
    const isShut = async () => {
      await othersPay(1)
      await page.goto(address)
      return page.getByText(en.choose.none_available).isVisible()
    }
    await expect.poll(isShut, { timeout: 60_000 }).toBe(true)
    for (const radio of await page.getByRole('radio').all()) expect(await radio.isDisabled()).toBe(true)
    expect(await axeFaults(page)).toEqual([])
    await shoot('provider-shut')
    await step.follow(page, en.wait.check_again)
    await page.getByRole('radio').first().waitFor()
  })
  journeys.provider.weather = undefined
  const sale = await sell()
  const number = newNumber('026')
  journeys.provider.rule({ number, story: { ends: 'success' } })
  await journeys.walk({}, async ({ page }) => {
    const enabled = async () => {
      await page.goto(sale.address)
      return page.locator('.method > input:enabled').count()
    }
    await expect.poll(enabled, { timeout: comesBack, interval: 1000 }).toBe(4)
    await payByNumber(page, 'AT Money', number)
    await step.seesPaid(page)
  })
  expect(await sale.attempts()).toHaveLength(1)
})
