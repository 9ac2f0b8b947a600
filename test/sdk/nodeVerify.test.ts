import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createTollgate, NotificationError, SignatureError } from '../../sdk/node/src/index.ts'
import { decimalsOf, minorOf, readMoney } from '../../sdk/node/src/money.ts'
import { fakeGateway, signedNotification, testIpnSecret } from '../../sdk/node/src/testing.ts'
import { currencies, decimalsOf as gatewayDecimals, moneyNumber } from '../../src/core/money.ts'
import type { vectors as Vectors } from './vectors.ts'

const options = {
  baseUrl: 'https://pay.example',
  merchantKey: 'demo-merchant',
  merchantSecret: '00112233445566778899aabbccddeeff',
  ipnSecret: testIpnSecret,
}
const tollgate = createTollgate(options)

test('the hash is that of the contract, and its text can be compared with the hint of the gateway', async () => {
  expect(await tollgate.sign({ invoiceId: 'invoice001', total: '25.00' })).toEqual({
    hash: '6917989e5641c85d49a8f8045e3abd1da701af0d1326a88de0b8ff860ef46583',
    text: 'invoice_id=invoice001&merchant_key=demo-merchant&total=25.00',
  })
  const { text } = await tollgate.sign({ invoiceId: 'invoice001' })
  expect(text).toBe('invoice_id=invoice001&merchant_key=demo-merchant')
})

// The vectors of every SDK, which the gateway's own code made.
const vectors = JSON.parse(readFileSync('sdk/vectors.json', 'utf8')) as typeof Vectors

for (const { merchant_key, secret, fields, string, hash } of vectors.requests)
  test(`the hash of ${string} is that of the vectors`, async () => {
    const client = createTollgate({ ...options, merchantKey: merchant_key, merchantSecret: secret })
    const { invoice_id: invoiceId, total } = fields
    expect(await client.sign({ invoiceId, total })).toEqual({ hash, text: string })
  })

for (const { merchant_key, secret, t, after, limit, hash } of vectors.feed)
  test(`the feed is signed as by the vectors: after "${after}"`, async () => {
    vi.useFakeTimers({ now: Number(t) * 1000, toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const sent: (string | null)[] = []
    const client = createTollgate({
      ...options,
      merchantKey: merchant_key,
      merchantSecret: secret,
      fetch: async (_, init) => {
        sent.push(new Headers(init?.headers).get('x-tollgate-signature'))
        return Response.json({ success: true, events: [], next: '0', more: false })
      },
    })
    await client.events({ after, limit: Number(limit) }).next()
    expect(sent).toEqual([`t=${t},v1=${hash}`])
  })

for (const { name, secret, now, body, headers, code } of vectors.notifications)
  test(`a notification of the vectors: ${name}`, async () => {
    vi.useFakeTimers({ now: now * 1000, toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const client = createTollgate({ ...options, ipnSecret: secret })
    const verified = client.verifyNotification(body, headers).catch((error: SignatureError) => error.code)
    expect(await verified).toBe(code)
  })

test('the decimals of every currency are those of the gateway', () => {
  for (const currency of currencies) expect(decimalsOf(currency), currency).toBe(gatewayDecimals(currency))
  expect(() => decimalsOf('KWD')).toThrow(expect.objectContaining({ code: 'currency_unknown' }))
})

for (const [amount, currency, minor] of [
  [{ total: '25.50' }, 'GHS', 2550],
  [{ total: '25' }, 'GHS', 2500],
  [{ total: '25.5000' }, 'GHS', 2550],
  [{ totalMinor: 5 }, 'GHS', 5],
  [{ totalMinor: 99_999_999_999_999n }, 'GHS', 99_999_999_999_999],
  [{ total: '5000.00' }, 'UGX', 5000],
  [{ totalMinor: 5000 }, 'UGX', 5000],
] as const)
  test(`${Object.values(amount).join()} ${currency} is ${minor} minor units`, () =>
    expect(minorOf(amount, currency)).toBe(minor))

for (const [amount, field] of [
  [{ total: 25.5 }, 'total'],
  [{ total: '25,50' }, 'total'],
  [{ total: '-1' }, 'total'],
  [{ total: '1e3' }, 'total'],
  [{ total: '25.505' }, 'total'],
  [{ total: '25.00', totalMinor: 2500 }, 'total'],
  [{}, 'total'],
  [{ totalMinor: 25.5 }, 'totalMinor'],
  [{ totalMinor: '2550' }, 'totalMinor'],
  [{ totalMinor: -1 }, 'totalMinor'],
  [{ totalMinor: Number.NaN }, 'totalMinor'],
] as [never, string][])
  test(`refused as an amount: ${JSON.stringify(amount)}`, () =>
    expect(() => minorOf(amount, 'GHS')).toThrow(expect.objectContaining({ code: 'invalid_input', field })))

test('every amount that the gateway writes as a JSON number is read exactly', () => {
  for (const minor of [1n, 10n, 29n, 57n, 113n, 115n, 2550n, 99_999_999n, 999_999_999_999n])
    for (const currency of ['GHS', 'UGX'] as const)
      expect(readMoney(moneyNumber(minor, currency), currency)?.amountMinor).toBe(Number(minor))
  expect(readMoney(999_999_999_999.99, 'GHS')?.amountMinor).toBe(99_999_999_999_999)
  expect(readMoney(25.505, 'GHS')).toBeUndefined()
  expect(readMoney(1.5, 'UGX')).toBeUndefined()
})

const order = { invoiceId: 'AMA-1042', total: '25.00' }
const delivery = { ipnSecret: testIpnSecret }

test('a signed notification is read, as text, as bytes, with any kind of headers', async () => {
  const { rawBody, headers } = await signedNotification({ ...order, extra: { table: '7 ✓' } }, delivery)
  const bytes = new TextEncoder().encode(rawBody)
  const upper = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  )
  for (const [body, sent] of [
    [rawBody, headers],
    [bytes, new Headers(headers)],
    [bytes.buffer, upper],
    [Buffer.from(rawBody), headers],
  ] as const)
    expect(await tollgate.parseNotification(body, sent)).toMatchObject({
      id: 'TG-TEST-AMA-1042-N1',
      sequence: 1,
      attempt: 1,
      invoiceId: 'AMA-1042',
      reference: 'TG-TEST-AMA-1042',
      status: 'paid',
      amount: '25.00',
      amountMinor: 2500,
      currency: 'GHS',
      paidAt: new Date('2026-03-02T09:30:00.000Z'),
      extra: { table: '7 ✓' },
    })
})

test('while a secret is changed, either side may be first', async () => {
  const newSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const [old, renewed] = [
    await signedNotification(order, delivery),
    await signedNotification(order, { ipnSecret: newSecret }),
  ]
  const both = createTollgate({ ...options, ipnSecret: [testIpnSecret, newSecret] })
  await both.verifyNotification(old.rawBody, old.headers)
  await both.verifyNotification(renewed.rawBody, renewed.headers)
  const signatures = `${renewed.headers['webhook-signature']} ${old.headers['webhook-signature']}`
  await tollgate.verifyNotification(old.rawBody, { ...old.headers, 'webhook-signature': signatures })
})

const now = Date.now()
for (const [name, change, code] of [
  ['another body', { rawBody: '{"invoice_id":"AMA-1042"}' }, 'signature_mismatch'],
  ['another id', { headers: { 'webhook-id': 'TG-TEST-N2' } }, 'signature_mismatch'],
  [
    'another time',
    { headers: { 'webhook-timestamp': String(Math.floor(now / 1000) + 7) } },
    'signature_mismatch',
  ],
  ['no signature', { headers: { 'webhook-signature': '' } }, 'signature_missing'],
  ['no time', { headers: { 'webhook-timestamp': undefined } }, 'signature_missing'],
  ['a signature of another version', { headers: { 'webhook-signature': 'v2,abc' } }, 'signature_mismatch'],
] as const)
  test(`refused: ${name}`, async () => {
    const { rawBody, headers } = await signedNotification(order, delivery)
    const sent = { ...headers, ...('headers' in change ? change.headers : {}) }
    const verifying = tollgate.verifyNotification('rawBody' in change ? change.rawBody : rawBody, sent)
    await expect(verifying).rejects.toThrow(SignatureError)
    await expect(verifying).rejects.toMatchObject({ code })
  })

for (const [seconds, passes] of [
  [-298, true],
  [298, true],
  [-302, false],
  [302, false],
] as const)
  test(`sent ${seconds} seconds from now: ${passes ? 'accepted' : 'refused'}`, async () => {
    const sentAt = new Date(Date.now() + seconds * 1000)
    const { rawBody, headers } = await signedNotification(order, { ...delivery, sentAt })
    const verifying = tollgate.verifyNotification(rawBody, headers)
    if (passes) await verifying
    else await expect(verifying).rejects.toMatchObject({ code: 'timestamp_out_of_tolerance' })
  })

test('a parsed body is refused with what to pass instead', async () => {
  const { rawBody, headers } = await signedNotification(order, delivery)
  const verifying = tollgate.verifyNotification(JSON.parse(rawBody), headers)
  await expect(verifying).rejects.toThrow(NotificationError)
  await expect(verifying).rejects.toMatchObject({ code: 'body_not_raw' })
})

for (const [change, field] of [
  [{ baseUrl: 'pay.example' }, 'baseUrl'],
  [{ baseUrl: 'https://user:word@pay.example' }, 'baseUrl'],
  [{ merchantKey: '' }, 'merchantKey'],
  [{ merchantSecret: undefined }, 'merchantSecret'],
  [{ ipnSecret: 'not base64!' }, 'ipnSecret'],
  [{ merchantSecret: 'secret\n' }, 'merchantSecret'],
  [{ tries: 0 }, 'tries'],
] as [object, string][])
  test(`createTollgate refuses ${JSON.stringify(change)}`, () =>
    expect(() => createTollgate({ ...options, ...change })).toThrow(
      expect.objectContaining({ code: 'invalid_input', field }),
    ))

test('a client without a signing secret verifies nothing', async () => {
  const { rawBody, headers } = await signedNotification(order, delivery)
  const blind = createTollgate({ ...options, ipnSecret: undefined })
  await expect(blind.verifyNotification(rawBody, headers)).rejects.toMatchObject({ field: 'ipnSecret' })
})

test('secrets are not visible in the client', () => {
  expect(JSON.stringify(tollgate) + String(Object.values(tollgate))).not.toContain(options.merchantSecret)
})

test('the fake gateway answers status checks', async () => {
  const payments = [{ ...order, status: 'failed', statusReason: 'not enough funds' } as const]
  const faked = createTollgate({ ...options, fetch: fakeGateway(payments) })
  expect(await faked.status({ invoiceId: 'AMA-1042' })).toMatchObject({
    status: 'failed',
    statusReason: 'not enough funds',
    amount: '25.00',
    mode: 'test',
  })
  await expect(faked.status({ invoiceId: 'AMA-1043' })).rejects.toMatchObject({
    name: 'RefusedError',
    code: 'GW-005',
    httpStatus: 404,
    requestId: 'req_test',
  })
})
