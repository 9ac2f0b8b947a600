import { expect, test } from 'vitest'
import { addressWarnings } from '../../../src/core/interface/warnings.ts'

const closed = { allowLoopback: false, ports: [] }
const onOwnMachine = { test: { allowLoopback: true, ports: [] }, live: closed }
const onServer = { test: closed, live: closed }

for (const [url, rules, code] of [
  ['http://127.0.0.1:3000/ipn', onOwnMachine, 'not_in_live'],
  ['http://localhost/ipn', onOwnMachine, 'not_in_live'],
  ['http://localhost/ipn', onServer, 'never_called'],
  ['https://10.0.0.9/ipn', onOwnMachine, 'never_called'],
  ['https://shop.example:3000/ipn', onServer, 'never_called'],
  ['http://shop.example/ipn', onServer, 'plain_http'],
  ['https://shop.example/ipn', onServer, undefined],
] as const)
  test(`ipn_url ${url} ${rules === onServer ? 'on a server' : 'on the own machine'}: ${code ?? 'no warning'}`, () => {
    const warnings = addressWarnings({ url, isSetting: false }, {}, rules)
    expect(warnings.map(warning => warning.code)).toEqual(code ? [code] : [])
  })

test('addresses for the customer are judged by their scheme alone', () => {
  const redirects = { success_url: 'http://shop.example', cancelled_url: 'https://192.168.0.7/basket' }
  expect(addressWarnings(undefined, redirects, onServer)).toEqual([
    { field: 'success_url', code: 'plain_http', message: expect.stringContaining('Use https') },
  ])
})
