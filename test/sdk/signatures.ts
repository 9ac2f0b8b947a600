import { expect, test } from 'vitest'
import { currencies, formatMoney } from '../../src/core/money.ts'
import { vectors } from './vectors.ts'
import { client, errorOf, merchant, resultOf, run } from './world.ts'

const keysOf = ({ merchant_key, secret }: { merchant_key: string; secret: string }) => ({
  base_url: 'http://127.0.0.1',
  merchant_key,
  merchant_secret: secret,
})

export function testSignatures() {
  test('requests, status checks and refunds are signed as by the gateway', async () => {
    for (const { fields, string, hash, ...keys } of [...vectors.requests, ...vectors.refunds])
      expect(await run('sign', keysOf(keys), fields)).toEqual({ result: { text: string, hash } })
  })

  test('notifications are accepted and refused as by the vectors', async () => {
    for (const { name, secret, now, body, headers, valid, code } of vectors.notifications) {
      const receiver = {
        base_url: 'http://127.0.0.1',
        merchant_key: 'k',
        merchant_secret: 's',
        ipn_secret: secret,
      }
      const { error } = await run('verify', receiver, body, headers, now)
      expect([name, error?.code]).toEqual([name, code])
      if (!valid) expect(error).toMatchObject({ class: 'SignatureError' })
    }
  })

  test('headers are found in any letter case, and as a CGI or WSGI server writes them', async () => {
    const [{ secret, now, body, headers }] = vectors.notifications as [(typeof vectors.notifications)[number]]
    const receiver = {
      ...client,
      ipn_secret: ['whsec_YW5vdGhlciBleGFtcGxlLCBubyBzZWNyZXQgZWl0aGVyIQ==', secret],
    }
    for (const rename of [
      (name: string) => name.toUpperCase(),
      (name: string) => `HTTP_${name.toUpperCase().replaceAll('-', '_')}`,
    ]) {
      const renamed = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [rename(name), value]),
      )
      expect(await run('verify', receiver, body, renamed, now)).toEqual({ result: null })
    }
    const twice = { ...headers, 'Webhook-Id': 'another' }
    const { error } = await run('verify', receiver, body, twice, now)
    expect(error).toMatchObject({ class: 'NotificationError', code: 'notification_malformed' })
  })

  test('a secret that is missing or of another kind is refused, not used', async () => {
    for (const ipn_secret of ['', 'whsec_', 'whsec_YWJj', merchant.test.secret_key])
      expect((await run('sign', { ...client, ipn_secret }, {})).error).toMatchObject({
        class: 'InvalidInputError',
        field: 'ipn_secret',
      })
    const { ipn_secret: _, ...without } = client
    expect((await run('parse', without, '{}', {})).error).toMatchObject({ field: 'ipn_secret' })
  })

  test('the helper for tests makes notifications that are accepted', async () => {
    const { body, headers } = await resultOf('signed', { invoice_id: 'A-1' }, merchant.test.ipn_secret)
    const parsed = await resultOf('parse', body, headers)
    expect(parsed).toMatchObject({ invoice_id: 'A-1', status: 'paid', sequence: 1, attempt: 1 })
    const changed = await resultOf('parse', body, { ...headers, 'webhook-sequence': '9' }) // it is not signed
    expect(changed.sequence).toBe(1)
    expect(await errorOf('parse', body.replace('A-1', 'A-2'), headers)).toMatchObject({
      code: 'signature_mismatch',
    })
  })

  test('the decimals of each currency are those of the gateway', async () => {
    for (const currency of currencies) {
      const { text } = await resultOf('sign', { invoice_id: 'A', total_minor: 1205, currency })
      expect(text.split('total=')[1], currency).toBe(formatMoney(1205n, currency))
    }
    expect(await errorOf('sign', { invoice_id: 'A', total_minor: 1, currency: 'XXX' })).toMatchObject({
      code: 'currency_unknown',
    })
  })
}
