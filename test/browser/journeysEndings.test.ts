import { expect } from 'vitest'
import { languages } from '../../src/core/languages/languages.ts'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'

const { en, fr } = languages

const journeys = openJourneys()

// Each test ending: the final page, and the notification of the shop.
for (const [name, title, status, ending] of [
  ['paid', en.paid.title, 'paid', 'approved'],
  ['declined', en.reasons.declined.title, 'failed', 'declined'],
  ['no_money', en.reasons.insufficient_funds.title, 'failed', 'no_funds'],
  ['no_answer', en.reasons.no_answer.title, 'failed', 'no_answer'],
  ['late', en.paid.title, 'paid', 'failed_then_paid'],
  ['wrong_amount', en.disputed.title, 'awaiting_payment', 'other_amount'],
] as const)
  journeys.journey(`one tap: ${name}`, async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.press(page, en.test.endings[name])
    if (name === 'late') {
      await sale.becomes('paid')
      await page.goto(sale.address) // a page without scripts does not look again by itself after a no
    }
    await step.sees(page, title)
    expect((await sale.statusOf()).status).toBe(status)
    expect(await sale.attempts()).toHaveLength(1)
    expect(await sale.charges()).toMatchObject([{ ending }])
  })

journeys.journey('two taps are one attempt, also on two endings', { scripts: false }, async ({ page }) => {
  const sale = await journeys.shopAsksFor()
  await page.goto(sale.address)
  const { length } = await page.locator('.endings form').all()
  expect(length).toBe(6)
  const fields = await page
    .locator('.endings form')
    .evaluateAll((forms: any[]) =>
      forms.map(form =>
        Object.fromEntries(
          [...form.elements].filter(({ name }) => name).map(({ name, value }) => [name, value]),
        ),
      ),
    )
  const tap = (at: number) =>
    fetch(`${sale.address}/pay`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(fields[at] as Record<string, string>),
    })
  await Promise.all([tap(0), tap(0), tap(1), tap(2)])
  expect(await sale.attempts()).toHaveLength(1)
  expect(await sale.charges()).toHaveLength(1)
})

journeys.journey(
  'the endings are offered again after a failure, in French',
  { locale: 'fr-FR' },
  async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.press(page, fr.test.endings.declined)
    await step.sees(page, fr.reasons.declined.title)
    await step.follow(page, fr.failed.other)
    await step.press(page, fr.test.endings.paid)
    await step.seesPaid(page, fr)
    expect(await sale.attempts()).toHaveLength(2)
  },
)
