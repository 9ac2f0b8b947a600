import { pino } from 'pino'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readConfig } from '../../src/config.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { type Gateway, startGateway } from '../../src/main.ts'
import { sql } from '../../src/store/db.ts'
import { tollgate, tollgateJson } from '../cli/tollgate.ts'
import { after, hours, yes } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'
import { asOperator, operatorToken } from '../support/gateway/operatorAuth.ts'

// A whole gateway with the setting, on records of forty days ago.
const ended = after(-hours(24 * 40), new Date())
const env = () => ({ ...shop.env, TOLLGATE_REDACT_DAYS: '31', TOLLGATE_SUPPORT_TOKEN: operatorToken })

let shop: TestShop
let gateway: Gateway
let payment: Payment

beforeAll(async () => {
  shop = await openShop()
  shop.setNow(ended)
  const asked = {
    name: 'Yaa Asantewaa',
    email: 'yaa@mail.example',
    number: '0241234567',
    description: 'For Yaa',
  }
  payment = await shop.ask(await shop.addMerchant('Ama Shop'), { ...asked, invoice_id: 'OLD-1' })
  payment = await shop.try(payment, yes)
  await shop.db.rows(sql`update messages set next_try_at = null, state = 'sent'`)
  gateway = await startGateway(readConfig(env()), {
    log: pino({ level: 'silent' }),
    isOverloaded: () => false,
  })
  await vi.waitFor(async () => expect((await shop.fresh(payment)).redacted_at).not.toBeNull(), {
    timeout: 20_000,
  })
})
afterAll(async () => {
  await gateway?.stop()
  await shop.stop()
})

const read = async (path: string) => (await fetch(gateway.url + path, { headers: asOperator })).text()
const today = () => new Date().toISOString().slice(0, 10)

test('the receipt still stands, and says in plain words why it says less', async () => {
  for (const path of [`/checkout/${payment.tx_token}`, `/checkout/${payment.tx_token}/receipt`]) {
    const page = await read(path)
    expect(page).toContain('OLD-1')
    expect(page).toMatch(/Your personal data was removed on [^<]*, 40 days after this payment ended\./)
    expect(page).not.toMatch(/yaa|asantewaa/i)
  }
  expect(await read(`/checkout/${payment.tx_token}/receipt?lang=fr`)).toContain('40 jours après la fin')
})

test('support and the operator read the same, without the payer', async () => {
  const words = `personal details were removed on ${today()}, 40 days after it ended`
  const page = await read('/support?q=OLD-1')
  const shown = (await tollgate(env(), 'payment', 'show', 'OLD-1')).stdout
  for (const text of [page, shown]) {
    expect(text).toContain(words)
    expect(text).not.toMatch(/yaa|asantewaa/i)
  }
  const { data } = await tollgateJson(env(), 'payment', 'show', 'OLD-1')
  expect(data).toMatchObject({ name: null, email: null, number: null, redacted_at: expect.any(String) })
})

test('it is counted for the operator', async () => {
  expect(await read('/metrics')).toContain('tollgate_redacted_payments_total 1')
})
