import { describe, expect } from 'vitest'
import {
  withCountryCode,
  newNumber,
  openMtnJourneys,
  payByNumber,
} from '../support/journeys/providerJourneys.ts'
import * as step from '../support/journeys/steps.ts'

const { en } = step

const journeys = openMtnJourneys()

const chargeOf = (number: string) =>
  journeys.provider.book().find(({ sent }) => sent.payer.partyId === withCountryCode(number))
const keyOf = (number: string) => chargeOf(number)?.key ?? ''

// A number whose owner decides. All others of MTN's sandbox pay at once.
function decides(story: object = {}) {
  const number = newNumber()
  journeys.provider.rule({ number: withCountryCode(number), story })
  return number
}

describe('MTN by its own provider', () => {
  journeys.everywhere('is approved on the phone', async ({ page }) => {
    const number = decides()
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await payByNumber(page, 'MTN MoMo', number)
    await step.sees(page, en.wait.prompt)
    await journeys.provider.approve(keyOf(number))
    await step.seesPaid(page)
    expect(await sale.history()).toEqual(['paid'])
    expect(await sale.attempts()).toMatchObject([{ provider_account: 'mtn', state: 'paid' }])
    for (const text of [number.slice(1), withCountryCode(number)])
      expect(journeys.gateway.logs.join('\n')).not.toContain(text)
  })

  journeys.everywhere('is declined, and paid at the next try', async ({ page }) => {
    const number = decides()
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await payByNumber(page, 'MTN MoMo', number)
    await step.sees(page, en.wait.prompt)
    await journeys.provider.decline(keyOf(number))
    await step.seesFailed(page, 'declined')
    await step.follow(page, en.failed.again)
    expect(await step.numberOnFile(page)).toBe(`Pay from ${number.slice(0, 3)} ••• ${number.slice(-4)}`)
    await payByNumber(page, 'MTN MoMo', newNumber())
    await step.seesPaid(page)
    expect((await sale.attempts()).map(({ reason, state }) => reason ?? state)).toEqual(['declined', 'paid'])
  })

  // The customer waits on the page, not on the request.
  journeys.everywhere('is slow to take the order', async ({ page }) => {
    const number = decides({ delayMs: 9000 })
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await payByNumber(page, 'MTN MoMo', number)
    await step.sees(page, 'We are asking MTN MoMo')
    await step.reads(page, 'Do not pay again')
    await step.sees(page, en.wait.prompt)
    await journeys.provider.approve(keyOf(number))
    await step.seesPaid(page)
    expect(await sale.attempts()).toHaveLength(1)
  })
})
