import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { sql } from '../../../src/store/db.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { pending, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { tollgate, tollgateJson } from '../tollgate.ts'

let shop: TestShop
let merchant: TestMerchant
let payment: Payment

beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant()
  const requested = await shop.ask(merchant, {
    invoice_id: 'AMA-1',
    number: '0241234567',
    email: 'ama@mail.example',
  })
  payment = await shop.try(requested, yes)
})
afterAll(() => shop.stop())

const resend = (...args: string[]) => tollgate(shop.env, 'message', 'resend', ...args)
const arrive = () => shop.db.rows(sql`update messages set state = 'sent', next_try_at = null`)

for (const [name, words, exit, message] of [
  ['no payment', [], 2, /Missing required argument 'reference'/],
  ['another medium', ['AMA-1', '--by', 'post'], 2, /Allowed choices are sms, email/],
  ['no such payment', ['NOPE'], 1, /No payment has the reference/],
  ['what is on its way', ['AMA-1'], 1, /No SMS: One is still being sent.* No email: One is still/],
] as const)
  test(`resend with ${name} is refused`, async () => {
    const { code, stdout, stderr } = await resend(...words)
    expect([code, stdout]).toEqual([exit, ''])
    expect(stderr).toMatch(message)
  })

test('an unpaid payment, and one without an address, is refused', async () => {
  const open = await shop.try(await shop.ask(merchant, { number: '0241234567' }), pending)
  expect((await resend(open.tx_reference)).stderr).toMatch(/not paid/)
  const nobody = await shop.try(await shop.ask(merchant), yes)
  expect((await resend(nobody.tx_reference)).stderr).toMatch(/neither a phone number nor an email address/)
})

test('the receipt is sent to every address again, or to one, and payment show has it', async () => {
  await arrive()
  const { stdout } = await resend('AMA-1')
  expect(stdout).toBe(
    `The receipt of ${payment.tx_reference} is sent to 024 ••• 4567 by SMS again.\n` +
      `The receipt of ${payment.tx_reference} is sent to a••@•• by email again.\n`,
  )
  await arrive()
  const { data } = await tollgateJson(shop.env, 'message', 'resend', payment.tx_reference, '--by', 'email')
  expect(data).toEqual({
    tx_reference: payment.tx_reference,
    messages: [{ id: `${payment.tx_reference}-paid-email-3`, medium: 'email', to: 'a••@••' }],
    refused: [],
  })
  const shown = await tollgate(shop.env, 'payment', 'show', 'AMA-1')
  for (const words of ['Sent the receipt again by SMS', 'Messages', 'a••@••'])
    expect(shown.stdout).toContain(words)
  const { messages } = (await tollgateJson(shop.env, 'payment', 'show', 'AMA-1')).data
  expect(messages).toHaveLength(5)
  expect(messages[0]).toMatchObject({
    medium: expect.stringMatching(/sms|email/),
    topic: 'paid',
    state: 'sent',
  })
})

test('if one of two messages is refused, the output has both', async () => {
  await shop.db.rows(sql`update messages set state = 'sent', next_try_at = null where medium = 'sms'`)
  const { code, stdout } = await resend('AMA-1')
  expect(code).toBe(0)
  expect(stdout).toMatch(/by SMS again\.\nNo email: One is still being sent/)
})
