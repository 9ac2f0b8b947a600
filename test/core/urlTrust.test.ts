import { expect, expectTypeOf, test } from 'vitest'
import type { MerchantSettings } from '../../src/core/merchant/settings.ts'
import type { Delivery } from '../../src/core/notification/delivery.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { type OperatorUrl, operatorUrl, type UntrustedUrl, withPath } from '../../src/core/urlTrust.ts'
import type { OperatorRequest, OutboundRequest } from '../../src/net/outbound.ts'

// What must not compile stands behind @ts-expect-error: `npm run check` fails if it does.
const fromMerchant: UntrustedUrl = 'https://shop.example/ipn'
const fromOperator = operatorUrl('https://api.provider.example/')

test('an address of a merchant cannot be sent to without the guard', () => {
  // @ts-expect-error: it is not the operator's
  const first: OperatorUrl = fromMerchant
  // @ts-expect-error: and cannot be made so
  const second = operatorUrl(fromMerchant)
  // @ts-expect-error: nor can an address of which nothing is known
  const third: OperatorUrl = new URL('https://shop.example/').href
  expect([first, second, third]).toHaveLength(3)
})

test('an address of the operator is not sent to by the client for merchants', () => {
  // @ts-expect-error: the guard would refuse a provider in the operator's network
  const wrong: UntrustedUrl = fromOperator
  expect(wrong).toBe('https://api.provider.example/')
})

test('the type follows addresses from where they are read to where they are sent to', () => {
  expectTypeOf<Payment['ipn_url']>().toEqualTypeOf<UntrustedUrl | null>()
  expectTypeOf<Payment['success_url']>().toEqualTypeOf<UntrustedUrl | null>()
  expectTypeOf<MerchantSettings['ipn_url']>().toEqualTypeOf<UntrustedUrl | null>()
  expectTypeOf<Delivery['url']>().toEqualTypeOf<UntrustedUrl>()
  expectTypeOf<OutboundRequest['url']>().toEqualTypeOf<UntrustedUrl>()
  expectTypeOf<OperatorRequest['url']>().toEqualTypeOf<OperatorUrl>()
})

for (const [base, path, url] of [
  ['https://api.example', '/charge', 'https://api.example/charge'],
  ['https://api.example/', '/charge', 'https://api.example/charge'],
  ['https://api.example/v1//', '/charge?a=1', 'https://api.example/v1/charge?a=1'],
  ['https://api.example', '?to=1', 'https://api.example?to=1'],
] as const)
  test(`${base} with ${path} is ${url}`, () => expect(withPath(operatorUrl(base), path)).toBe(url))

for (const path of ['.evil.example/', '@evil.example/', ':81/', ''])
  test(`'${path}' would change the host`, () =>
    expect(() => withPath(operatorUrl('https://api.example'), path)).toThrow('a path begins with / or ?'))
