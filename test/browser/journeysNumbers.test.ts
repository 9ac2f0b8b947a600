import { describe, expect } from 'vitest'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'

const { en } = step

const journeys = openJourneys()

describe('the network of a number', () => {
  journeys.journey(
    'is guessed while the number is typed, and the guess can be accepted',
    { scripts: true },
    async ({ page }) => {
      const sale = await journeys.shopAsksFor()
      await page.goto(sale.address)
      await step.choose(page, 'MTN MoMo')
      await step.phoneField(page).pressSequentially('0200000000')
      await page.getByRole('status').getByText('This looks like a number of Telecel Cash.').waitFor()
      await step.press(page, 'Pay with Telecel Cash instead')
      expect(await page.getByRole('radio', { name: 'Telecel Cash' }).isChecked()).toBe(true)
      expect(await step.phoneField(page).inputValue()).toBe('0200000000')
      expect(await step.focused(page)).toMatch(/^(payment_method|telecel_cash.phone)$/) // the button is gone
      await page.getByRole('status').getByText('Looks like Telecel Cash. If not, choose above.').waitFor()
      await page.getByRole('textbox', { name: en.fields.voucher_code.label }).fill('246810')
      await step.pressPay(page)
      await step.seesPaid(page)
      expect(await sale.statusOf()).toMatchObject({ payment_method: 'telecel_cash' })
    },
  )

  journeys.journey('is guessed from every spelling', { scripts: true }, async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.choose(page, 'MTN MoMo')
    for (const number of ['201234567', '(020) 123', '00233 20 1', '+233(0)20.1', '\u202a+233 20 123\u202c']) {
      await step.phoneField(page).fill(number)
      await page.getByRole('status').getByText('This looks like a number of Telecel Cash.').waitFor()
      await step.phoneField(page).fill('+20 123 456 789') // Egypt begins like Telecel
      await page.getByText('This looks like a number of Telecel Cash.').waitFor({ state: 'detached' })
    }
  })

  journeys.journey('abroad is no wallet here, so it is not filled in', async ({ page }) => {
    const sale = await journeys.shopAsksFor({ number: '+447911123456' })
    await page.goto(sale.address)
    await step.choose(page, 'MTN MoMo')
    expect(await step.phoneField(page).inputValue()).toBe('')
    await step.payWithWallet(page, 'MTN MoMo', '0240000000')
    await step.seesPaid(page)
  })

  journeys.journey(
    'may be changed after a mistake, and the number is kept',
    { scripts: true },
    async ({ page }) => {
      const sale = await journeys.shopAsksFor()
      await page.goto(sale.address)
      await step.payWithWallet(page, 'Telecel Cash', '0240000000', '')
      await page.getByRole('alert').waitFor()
      await step.choose(page, 'MTN MoMo')
      expect(await step.phoneField(page).inputValue()).toBe('0240000000')
    },
  )

  journeys.journey('is what the customer says: numbers move between networks', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.payWithWallet(page, 'MTN MoMo', '0200000000')
    await step.seesPaid(page)
    const pays = { payment_method: 'mtn_mobile_money', payment_instrument: '020 ••• 0000' }
    expect(await sale.statusOf()).toMatchObject({ status: 'paid', ...pays })
  })

  journeys.journey('is chosen already when the shop sent the number', async ({ page }) => {
    const sale = await journeys.shopAsksFor({ number: '+233260000000' })
    await page.goto(sale.address)
    expect(await page.getByRole('radio', { name: 'AT Money' }).isChecked()).toBe(true)
    expect(await step.numberOnFile(page)).toBe('Pay from 026 ••• 0000')
    expect(await page.content()).not.toContain('260000000')
    await step.pressPay(page)
    await step.seesPaid(page)
    expect(await sale.statusOf()).toMatchObject({ payment_method: 'airteltigo_money' })
  })
})

describe('a number', () => {
  journeys.journey('may be written in many ways', async ({ page }) => {
    const spellings = ['241234567', '(024) 123 4567', '024.123.4567', '00233241234567', '+233(0)241234567']
    const pasted = '\u202a+233 24\u00a0123–4567\u202c'
    for (const number of ['0241234567', '024-123-4567', '233241234567', ...spellings, pasted]) {
      const sale = await journeys.shopAsksFor()
      await page.goto(sale.address)
      await step.payWithWallet(page, 'MTN MoMo', number)
      await step.sees(page, en.wait.prompt)
      await step.reads(page, 'is asking 024 ••• 4567 to pay')
      expect(await sale.attempts()).toMatchObject([{ instrument: '+233241234567' }])
    }
    await step.decideOnTestPhone(page, 'Approve')
    await step.seesPaid(page)
  })

  journeys.journey(
    'that is invalid has a message beside its field, is kept, and nothing is charged',
    async ({ page }) => {
      const sale = await journeys.shopAsksFor()
      await page.goto(sale.address)
      const { label } = en.fields.phone
      for (const [typed, words] of [
        ['', `${label}: please fill this in.`],
        ['my number', `${label}: this is not a complete number. Write it like 024 412 3456.`],
        ['123', `${label}: this is not a complete number. Write it like 024 412 3456.`],
        ['02400000000', `${label}: this is not a complete number. Write it like 024 412 3456.`],
        [
          '+44 7911 123456',
          'This number cannot have a wallet of MTN MoMo. Use a mobile number of Ghana, like 024 412 3456.',
        ],
      ] as const) {
        await step.payWithWallet(page, 'MTN MoMo', typed)
        const field = step.phoneField(page)
        await page.getByRole('alert').getByRole('link', { name: words }).click()
        expect(await step.focused(page)).toBe('mtn_mobile_money.phone')
        expect(await field.inputValue()).toBe(typed)
        expect(await field.getAttribute('aria-invalid')).toBe('true')
        const [told] = (await field.getAttribute('aria-describedby'))?.split(' ') ?? []
        await page.locator(`[id="${told}"]`).filter({ hasText: words }).waitFor()
        await page.goto(sale.address)
      }
      expect(await sale.attempts()).toEqual([])
      await step.payWithWallet(page, 'MTN MoMo', '0240000000')
      await step.seesPaid(page)
    },
  )

  journeys.journey(
    'and a voucher both have a message if both are missing, and so has a missing choice of the method',
    async ({ page }) => {
      const sale = await journeys.shopAsksFor()
      await page.goto(sale.address)
      await step.pressPay(page)
      await page.getByRole('alert').getByRole('link', { name: en.faults.no_method }).waitFor()
      await step.payWithWallet(page, 'Telecel Cash', '', '')
      await page.getByRole('alert').getByText('Please check 2 things').waitFor()
      expect(await page.getByRole('alert').getByRole('link').count()).toBe(2)
      expect(await page.getByRole('radio', { name: 'Telecel Cash' }).isChecked()).toBe(true)
      expect(await sale.attempts()).toEqual([])
    },
  )
})
