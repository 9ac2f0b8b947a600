import { describe, expect, test } from 'vitest'
import paystack from '../../../src/providers/paystack.ts'
import { never, secretKey, tools } from './context.ts'
import { bad, good, openScripted } from './scripted.ts'

describe('settings', () => {
  for (const [key, mode] of [
    ['sk_test_abc', 'test'],
    ['sk_live_abc', 'live'],
  ] as const) {
    test(`${key} is of ${mode} payments`, () => {
      const providerAccount = paystack.open({ secret_key: key, url: 'https://api.paystack.co' }, tools())
      expect(providerAccount).toMatchObject({ mode, account: `paystack ${mode}` })
    })
  }

  for (const key of [
    '',
    'pk_test_abc',
    'pk_live_abc',
    'sk_test_',
    'sk_prod_abc',
    ' sk_test_abc',
    'sk_test_a\nb',
  ])
    test(`${JSON.stringify(key)} is thrown by its name, and not shown`, () => {
      const open = () => paystack.open({ secret_key: key, url: 'https://api.paystack.co' }, tools())
      expect(open).toThrow(/^secret_key must be/)
      if (key.length > 'sk_test_'.length) expect(open).not.toThrow(key)
    })

  for (const url of ['', 'api.paystack.co', 'ftp://api.paystack.co', 'https://'])
    test(`the address ${JSON.stringify(url)} is thrown by its name`, () =>
      expect(() => paystack.open({ secret_key: secretKey, url }, tools())).toThrow(/^url must be/))
})

describe('the live check', () => {
  for (const [balance, isGood, words] of [
    [good([{ currency: 'GHS', balance: 0 }]), true, /accepts the secret key, for test payments/],
    [good([{ currency: 'NGN', balance: 0 }]), false, /no balance in GHS/],
    [good([]), false, /no balance in GHS/],
    [good([null]), false, /no balance in GHS/],
    [bad(401, 'Invalid key'), false, /does not know the secret key/],
    [bad(403, ''), false, /refuses our calls/],
    [bad(500, ''), false, /no clear answer: HTTP 500/],
    [{ status: 503, body: '<h1>Back soon</h1>' }, false, /not reached: HTTP 503/],
  ] as const)
    test(JSON.stringify(balance.body), async () => {
      const { account } = await openScripted({ balance })
      const told = await account.checkCredentials?.(never)
      expect(told).toMatchObject({ isValid: isGood, words: expect.stringMatching(words) })
      expect(told?.words).not.toContain(secretKey)
    })

  test('nobody there', async () => {
    const { provider, account } = await openScripted({})
    await provider.stop()
    expect(await account.checkCredentials?.(never)).toMatchObject({
      isValid: false,
      words: expect.stringMatching(/not reached/),
    })
  })
})
