import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import {
  codeField,
  newNumber,
  openPaystackJourneys,
  payByNumber,
  seesAfterLook,
  seesStep,
  typeCode,
  voucherField,
} from '../support/journeys/providerJourneys.ts'
import type { Sale } from '../support/journeys/sale.ts'
import * as step from '../support/journeys/steps.ts'

const { en } = step
const email = 'kofi@example.test'

const journeys = openPaystackJourneys()

const chargesOf = (number: string) => journeys.provider.book().filter(({ phone }) => phone === number)
const approve = (number: string) => journeys.provider.approve(chargesOf(number)[0]?.reference ?? '')

// Every submitted code, to check that none is stored.
const typed = ['123456', '777777', '246810']

async function isPaidOnce(sale: Sale, page: Page, number: string) {
  await step.seesPaid(page)
  expect(chargesOf(number)).toMatchObject([{ amount: 2500, ended: 'success' }])
  expect(await sale.history()).toEqual(['paid'])
  expect(await sale.attempts()).toMatchObject([{ provider_account: 'paystack', state: 'paid', step: null }])
  const logs = journeys.gateway.logs.join('\n')
  for (const secret of [...typed, number, number.slice(1), email]) expect(logs).not.toContain(secret)
}

// A customer at the step, with a number for which Paystack requires a code.
async function atStep(page: Page) {
  const number = newNumber()
  journeys.provider.rule({ number, story: { asks: 'send_otp' } })
  const sale = await journeys.shopAsksFor({ email })
  await page.goto(sale.address)
  await payByNumber(page, 'MTN MoMo', number)
  await seesStep(page)
  return { number, sale }
}

describe('a wallet by Paystack', () => {
  journeys.everywhere('is asked on the phone', async ({ page }) => {
    const number = newNumber()
    const sale = await journeys.shopAsksFor({ email })
    await page.goto(sale.address)
    await step.choose(page, 'MTN MoMo')
    expect(await page.getByLabel(en.fields.email.label).count()).toBe(0)
    await payByNumber(page, 'MTN MoMo', number)
    await step.sees(page, en.wait.prompt)
    approve(number)
    await isPaidOnce(sale, page, number)
  })

  journeys.everywhere('wants a code', async ({ page }) => {
    const { number, sale } = await atStep(page)
    await step.reads(page, en.fields.otp.label)
    await step.reads(page, en.step.never_pin)
    await typeCode(page, '123456')
    await step.sees(page, en.wait.prompt)
    approve(number)
    await isPaidOnce(sale, page, number)
  })

  journeys.everywhere('wants a code: nothing, letters, a wrong one, and the right one', async ({ page }) => {
    const { number, sale } = await atStep(page)
    await step.press(page, en.step.go_on)
    await page.getByRole('alert').getByText(`${en.fields.otp.label}: please fill this in.`).waitFor()
    await typeCode(page, 'I23456')
    await page.getByRole('alert').getByText(`${en.fields.otp.label}: use digits only.`).waitFor()
    expect(await codeField(page).inputValue()).toBe('')
    expect(await page.title()).toContain(en.faults.in_title)
    expect(chargesOf(number)[0]?.tries).toBe(0) // neither was carried on
    await typeCode(page, '777777')
    await step.reads(page, 'MTN MoMo asks again. Check what you type.')
    expect(await page.getByText('registration token').count()).toBe(0) // not the provider's words
    expect(await codeField(page).inputValue()).toBe('')
    await typeCode(page, '123 456') // too soon, which is not counted
    await page.getByText('Please take a moment').waitFor()
    await page.waitForTimeout(5000)
    await typeCode(page, '123 456')
    await step.sees(page, en.wait.prompt)
    approve(number)
    await isPaidOnce(sale, page, number)
    expect(chargesOf(number)[0]?.tries).toBe(2)
  })

  journeys.everywhere('wants a code: the page is loaded anew, and pressed twice', async ({ page }) => {
    const { number, sale } = await atStep(page)
    await page.reload()
    await seesStep(page)
    await step.reads(page, en.fields.otp.label)
    await codeField(page).fill('123456')
    await page.getByRole('button', { name: en.step.go_on }).dblclick({ noWaitAfter: true })
    await step.sees(page, en.wait.prompt)
    expect(chargesOf(number)[0]?.tries).toBe(1)
    await page.goBack()
    await step.sees(page, en.wait.prompt)
    approve(number)
    await isPaidOnce(sale, page, number)
  })

  journeys.everywhere(
    'requires a code, and another device shows the same step and follows',
    async ({ page, scripts }) => {
      const { number, sale } = await atStep(page)
      await journeys.walk({ scripts }, async other => {
        await other.page.goto(sale.address)
        await seesStep(other.page)
        await codeField(other.page).fill('777777')
        await typeCode(page, '123456')
        await step.sees(page, en.wait.prompt)
        // An old page submits nothing, and shows the current state.
        if (!scripts) await step.press(other.page, en.step.go_on)
        await step.sees(other.page, en.wait.prompt)
        expect(chargesOf(number)[0]?.tries).toBe(1)
        approve(number)
        await Promise.all([step.seesPaid(other.page), isPaidOnce(sale, page, number)])
      })
    },
  )

  journeys.everywhere('wants a code, and what is typed stays while the page looks', async ({ page }) => {
    const { sale } = await atStep(page)
    const looks: string[] = []
    page.on('request', asked => looks.push(new URL(asked.url()).pathname))
    await codeField(page).pressSequentially('12345')
    await page.waitForTimeout(6500) // longer than a page without scripts waits, three looks of one with
    expect(await codeField(page).inputValue()).toBe('12345')
    expect(await step.focused(page)).toBe('otp')
    expect(looks.filter(path => !path.endsWith('/state'))).toEqual([])
    expect((await sale.attempts())[0]?.submits).toBe(0)
  })

  journeys.everywhere('wants a code, and the customer gives up', async ({ page, scripts }) => {
    const { number, sale } = await atStep(page)
    await step.takeExit(page, 'method')
    await step.sees(page, en.wait.ending)
    await page.goto(sale.address)
    await step.sees(page, en.wait.ending) // and is asked for no code again
    journeys.provider.decline(chargesOf(number)[0]?.reference ?? '')
    await page.getByText(en.wait.old_ended).waitFor(step.eventually)
    const next = newNumber()
    await payByNumber(page, 'AT Money', next)
    await step.sees(page, en.wait.prompt)
    approve(next)
    await seesAfterLook(page, scripts, en.paid.title)
    expect(await sale.history()).toEqual(['paid'])
  })

  journeys.everywhere('wants a code, and the customer cancels', async ({ page }) => {
    const { number, sale } = await atStep(page)
    await step.takeExit(page, 'cancel')
    await step.press(page, en.cancel.yes)
    await step.sees(page, en.cancelled.title)
    expect((await sale.statusOf()).status).toBe('awaiting_payment')
    journeys.provider.decline(chargesOf(number)[0]?.reference ?? '')
    await sale.becomes('cancelled')
  })
})

describe('Telecel Cash by Paystack', () => {
  journeys.everywhere('wants a voucher after the number', async ({ page }) => {
    const number = newNumber('020')
    const sale = await journeys.shopAsksFor({ email })
    await page.goto(sale.address)
    await payByNumber(page, 'Telecel Cash', number)
    await seesStep(page)
    await step.reads(page, en.fields.voucher_code.hint)
    await voucherField(page).fill('246810')
    await step.press(page, en.step.go_on)
    await step.reads(page, 'Telecel Cash asks again.')
    await page.waitForTimeout(5000) // the wait before the second try
    await voucherField(page).fill('123456')
    await step.press(page, en.step.go_on)
    await step.sees(page, en.wait.prompt)
    approve(number)
    await isPaidOnce(sale, page, number)
  })
})
