import { describe, expect } from 'vitest'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'

const { en } = step

const journeys = openJourneys()

describe('a number on file', () => {
  journeys.journey('is shown masked, and pays without being typed', async ({ page }) => {
    const sale = await journeys.shopAsksFor({ number: '+233245550000' })
    await page.goto(sale.address)
    expect(await step.numberOnFile(page)).toBe('Pay from 024 ••• 0000')
    expect(await step.phoneField(page).isVisible()).toBe(false)
    expect(await page.content()).not.toContain('5550000')
    await step.pressPay(page)
    await step.seesPaid(page)
    expect(await sale.attempts()).toMatchObject([{ instrument: '+233245550000' }])
  })

  journeys.journey('gives way to another one, which is not shown to others', async ({ page }) => {
    const sale = await journeys.shopAsksFor({ number: '+233240000002' })
    await page.goto(sale.address)
    await step.fillWallet(page, 'MTN MoMo', '0244')
    expect(await page.locator('.on-file').filter({ visible: true }).count()).toBe(0)
    await step.pressPay(page)
    await page.getByRole('alert').waitFor()
    expect(await step.phoneField(page).inputValue()).toBe('0244')
    await step.phoneField(page).fill('024 555 5003')
    await step.pressPay(page)
    await step.seesFailed(page, 'declined')
    expect(await sale.attempts()).toMatchObject([{ instrument: '+233245555003' }])
    await page.goto(`${sale.address}?again=same`)
    expect(await step.numberOnFile(page)).toBe('Pay from 024 ••• 5003')
    expect(await page.content()).not.toMatch(/455\s?55003|5555003/)
    await step.pressPay(page)
    await step.seesFailed(page, 'declined')
    expect((await sale.attempts()).map(({ instrument }) => instrument)).toEqual([
      '+233245555003',
      '+233245555003',
    ])
  })

  journeys.journey('stays on file when the language is changed', async ({ page }) => {
    const sale = await journeys.shopAsksFor({ number: '+233240000000' })
    await page.goto(sale.address)
    const { fr } = step
    await step.press(page, fr.name)
    expect(await step.numberOnFile(page)).toBe('Payer avec le 024 ••• 0000')
    await step.typeNumber(page, '0200', fr)
    await step.press(page, en.name)
    expect(await step.phoneField(page).inputValue()).toBe('0200')
    await step.phoneField(page).fill('')
    expect(await step.numberOnFile(page)).toBe('Pay from 024 ••• 0000')
    await step.pressPay(page)
    await step.seesPaid(page)
  })

  journeys.journey(
    'selects its network, and so does a number that is typed in its place',
    { scripts: true },
    async ({ page }) => {
      const sale = await journeys.shopAsksFor({ number: '+233240000000' })
      await page.goto(sale.address)
      await page.getByRole('status').getByText('Looks like MTN MoMo.').waitFor()
      await step.choose(page, 'AT Money')
      await page.getByRole('status').getByText('This looks like a number of MTN MoMo.').waitFor()
      await step.typeNumber(page, '0200000000')
      await page.getByRole('status').getByText('This looks like a number of Telecel Cash.').waitFor()
      await step.press(page, 'Pay with Telecel Cash instead')
      expect(await step.phoneField(page).inputValue()).toBe('0200000000') // where it is seen
      await page.getByRole('textbox', { name: en.fields.voucher_code.label }).fill('246810')
      await step.pressPay(page)
      await step.seesPaid(page)
      expect(await sale.attempts()).toMatchObject([{ instrument: '+233200000000' }])
    },
  )
})
