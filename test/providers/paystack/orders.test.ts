import { describe, expect, test } from 'vitest'
import paystack from '../../../src/providers/paystack.ts'
import { check, orderFor, secretKey, start, submit, tools } from './context.ts'
import { openScripted } from './scripted.ts'

describe('what is sent', () => {
  for (const [way, provider] of [
    ['mtn_mobile_money', 'mtn'],
    ['telecel_cash', 'vod'],
    ['airteltigo_money', 'atl'],
  ] as const)
    test(`${way}: the network, the number as people write it, pesewas`, async () => {
      const order = orderFor(way, { amount: 99_999_999_999_999n })
      const { provider: played, account } = await openScripted({})
      await start(account, order)
      expect(played.asked[0]).toMatchObject({ method: 'POST', path: '/charge' })
      expect(played.asked[0]?.headers).toMatchObject({
        authorization: `Bearer ${secretKey}`,
        'content-type': 'application/json',
      })
      expect(JSON.parse(played.asked[0]?.text ?? '')).toEqual({
        email: 'kofi@example.test',
        amount: 99_999_999_999_999,
        currency: 'GHS',
        reference: order.idempotency_key,
        mobile_money: { phone: '0244123456', provider },
        metadata: {
          tx_reference: order.tx_reference,
          invoice_id: order.invoice_id,
          merchant_name: 'Ama Shop',
        },
      })
      expect(order.idempotency_key).toMatch(/^[a-zA-Z0-9.=-]+$/) // that Paystack takes
    })

  test('card: the way back, and no other way on its page', async () => {
    const order = orderFor('card')
    const { provider, account } = await openScripted({})
    await start(account, order)
    expect(JSON.parse(provider.asked[0]?.text ?? '')).toMatchObject({
      channels: ['card'],
      callback_url: order.return_url,
      metadata: { cancel_action: order.return_url },
    })
  })

  test('without an email nothing is', async () => {
    const { provider, account } = await openScripted({})
    expect(await start(account, orderFor('card', { email: null }))).toMatchObject({ state: 'not_sent' })
    expect(provider.asked).toEqual([])
  })

  for (const [name, typed, path, body] of [
    ['otp', { otp: '123456' }, '/charge/submit_otp', { otp: '123456' }],
    ['voucher', { voucher_code: '654321' }, '/charge/submit_otp', { otp: '654321' }],
    ['birthday', { birthday: '1990-02-28' }, '/charge/submit_birthday', { birthday: '1990-02-28' }],
    ['phone', { phone: '+233244123456' }, '/charge/submit_phone', { phone: '0244123456' }],
  ] as const)
    test(`the step ${name}`, async () => {
      const order = orderFor('mtn_mobile_money')
      const { provider, account } = await openScripted({})
      await submit(account, order, name, typed)
      expect(provider.asked[0]).toMatchObject({ method: 'POST', path })
      expect(JSON.parse(provider.asked[0]?.text ?? '')).toEqual({ ...body, reference: order.idempotency_key })
    })

  test('an address with a folder keeps it', async () => {
    const { provider } = await openScripted({})
    const open = paystack.open({ secret_key: secretKey, url: `${provider.url}/pay/stack/` }, tools())
    await check(open, orderFor('card')).catch(() => {})
    expect(provider.asked[0]?.path).toMatch(/^\/pay\/stack\/transaction\/verify\//)
  })
})
