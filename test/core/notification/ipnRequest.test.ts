import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { ipnRequest, signingKey } from '../../../src/core/notification/delivery.ts'
import { noon } from '../../support/payments/rows.ts'

const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'] as const
const sending = {
  merchant_id: 'ama0000000',
  tx_reference: 'TG-1',
  sequence: 2,
  url: 'https://shop.example/ipn?a=1',
  style: 'post',
  tries: 3,
  body: '{"invoice_id":"A-1/7 é","status":"paid"}',
} as const
const signer = {
  keys: secrets.map(signingKey),
  merchant_key: 'tk_ama',
  passwordOrigins: ['https://shop.example'],
}

test('style post: the body as it is stored, and the headers of the convention', () => {
  expect(ipnRequest(sending, { ...signer, keys: [signingKey(secrets[0])] }, noon)).toEqual({
    method: 'POST',
    url: sending.url,
    body: sending.body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Tollgate',
      'webhook-id': 'TG-1-N2',
      'webhook-timestamp': '1772452800',
      'webhook-signature': new Webhook(secrets[0]).sign('TG-1-N2', noon, sending.body),
      'webhook-attempt': '3',
      'webhook-sequence': '2',
    },
  })
})

test('style basic: an authorization header of key and password, which no other style has', () => {
  const known = { ...signer, password: 'blue heron' }
  const { headers, method } = ipnRequest({ ...sending, style: 'basic' }, known, noon)
  expect(method).toBe('POST')
  expect(headers.authorization).toBe(`Basic ${Buffer.from('tk_ama:blue heron').toString('base64')}`)
  for (const style of ['post', 'get'] as const)
    expect(ipnRequest({ ...sending, style }, known, noon).headers).not.toHaveProperty('authorization')
})

for (const [url, hasIt] of [
  ['https://shop.example/another?a=1#b', true],
  ['https://SHOP.example:443/ipn', true],
  ['http://shop.example/ipn', false], // anybody on the way could read it
  ['https://shop.example:8443/ipn', false],
  ['https://www.shop.example/ipn', false],
  ['https://shop.example./ipn', false],
  ['https://shop.example.evil.example/ipn', false],
  ['https://evil.example/https://shop.example/', false],
] as const)
  test(`style basic: the password is ${hasIt ? '' : 'not '}sent to ${url}`, () => {
    const known = { ...signer, password: 'blue heron' }
    const { headers, body } = ipnRequest({ ...sending, url, style: 'basic' }, known, noon)
    expect(headers.authorization !== undefined).toBe(hasIt)
    expect([body, headers['webhook-signature']]).toEqual([sending.body, expect.stringMatching(/^v1,/)])
  })

for (const [url, sent] of [
  ['https://shop.example', 'https://shop.example/?invoice_id=A-1%2F7%20%C3%A9'],
  ['https://shop.example/ipn?', 'https://shop.example/ipn?invoice_id=A-1%2F7%20%C3%A9'],
  [
    'https://shop.example/ipn?a=%20&b=x+y&b',
    'https://shop.example/ipn?a=%20&b=x+y&b&invoice_id=A-1%2F7%20%C3%A9',
  ],
  ['https://shop.example/?invoice_id=9', 'https://shop.example/?invoice_id=9&invoice_id=A-1%2F7%20%C3%A9'],
  ['https://shop.example/#top', 'https://shop.example/?invoice_id=A-1%2F7%20%C3%A9#top'],
] as const)
  test(`style get requests ${sent}, without a body`, () => {
    const request = ipnRequest({ ...sending, url, style: 'get' }, signer, noon)
    expect(request).toMatchObject({ method: 'GET', url: sent })
    expect(request.body).toBeUndefined()
    expect(request.headers['webhook-signature']?.split(' ')[0]).toBe(
      new Webhook(secrets[0]).sign('TG-1-N2', noon, ''),
    )
  })

test('every live secret signs the same bytes, and no other secret does', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }).filter(text => text.isWellFormed()),
      fc.subarray([...secrets]),
      (body, live) => {
        const now = new Date()
        const { headers } = ipnRequest({ ...sending, body }, { ...signer, keys: live.map(signingKey) }, now)
        expect(headers['webhook-signature']).toBe(
          live.map(secret => new Webhook(secret).sign('TG-1-N2', now, body)).join(' '),
        )
      },
    ),
    { numRuns: 500 },
  )
})
