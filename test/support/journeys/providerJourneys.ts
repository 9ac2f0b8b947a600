import type { Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import type { Texts } from '../../../src/core/languages/en.ts'
import { webhookIdOf } from '../../../src/runtime/providers/accounts.ts'
import { mtnCredentials, openMtn, type MtnSimulator } from '../../simulators/mtn/mtn.ts'
import { openPaystack, type PaystackSimulator } from '../../simulators/paystack/paystack.ts'
import { type Journeys, openJourneys, type Walk } from './journey.ts'
import * as step from './steps.ts'

const { en } = step
const desk = { width: 1280, height: 800 }

// Journeys at a shop with one simulated provider.
type ProviderJourneys<Simulator> = Journeys & {
  readonly provider: Simulator
  everywhere(name: string, walk: Walk): void
}

export function openPaystackJourneys(secretKey = 'sk_test_played'): ProviderJourneys<PaystackSimulator> {
  let provider: PaystackSimulator
  const journeys = openJourneys({
    settings: ['providers=paystack'],
    async env() {
      provider = await openPaystack({ secretKey, retryMs: 1000 })
      return { PAYSTACK_SECRET_KEY: secretKey, PAYSTACK_URL: provider.url }
    },
  })
  beforeAll(() =>
    provider.settings({
      webhook_url: `${journeys.gateway.url}/callbacks/account/${webhookIdOf('paystack')}`,
    }),
  )
  afterAll(() => provider?.stop())
  return withProvider(journeys, () => provider)
}

export function openMtnJourneys(): ProviderJourneys<MtnSimulator> {
  let provider: MtnSimulator
  const journeys = openJourneys({
    settings: ['providers=mtn'],
    async env() {
      provider = await openMtn({ environment: 'sandbox' })
      return {
        MTN_SUBSCRIPTION_KEY: mtnCredentials.subscriptionKey,
        MTN_API_USER: mtnCredentials.apiUser,
        MTN_API_KEY: mtnCredentials.apiKey,
        MTN_URL: provider.url,
        MTN_CALLBACKS: 'on',
      }
    },
  })
  afterAll(() => provider?.stop())
  return withProvider(journeys, () => provider)
}

function withProvider<Simulator>(journeys: Journeys, provider: () => Simulator): ProviderJourneys<Simulator> {
  return Object.create(journeys, {
    provider: { get: provider },
    // On a phone and on a desktop, with scripts and without.
    everywhere: {
      value: (name: string, walk: Walk) => {
        journeys.journey(`${name}, on a phone`, walk)
        journeys.journey(`${name}, at a desk`, desk, walk)
      },
    },
  }) as ProviderJourneys<Simulator>
}

let numbers = 0

// A number that no other customer of this file has, so that a rule for it applies to one customer.
export const newNumber = (prefix = '024') => `${prefix}7${String(++numbers).padStart(6, '0')}`
export const withCountryCode = (number: string) => number.replace(/^0/, '233')

export const codeField = (page: Page, t: Texts = en) =>
  page.getByRole('textbox', { name: t.fields.otp.label })
export const voucherField = (page: Page, t: Texts = en) =>
  page.getByRole('textbox', { name: t.fields.voucher_code.label })

export const seesStep = (page: Page, t: Texts = en) => step.sees(page, t.step.title)

// Without scripts, the customer reloads a page that does not reload itself.
export async function seesAfterLook(page: Page, scripts: boolean, title: string) {
  if (!scripts) await page.reload()
  await step.sees(page, title)
}

export async function typeCode(page: Page, code: string, t: Texts = en) {
  await codeField(page, t).fill(code)
  await step.press(page, t.step.go_on)
}

export async function payByNumber(page: Page, way: step.Wallet, number: string, t: Texts = en) {
  await step.choose(page, way)
  await step.typeNumber(page, number, t)
  await step.pressPay(page, t)
}
