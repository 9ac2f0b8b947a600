import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { refundStates } from '../../../src/core/refund/refund.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { followFeed } from '../../support/deliveries/notifications.ts'
import {
  checkStatus,
  post,
  send,
  sign,
  signedQuestion,
  signedRequest,
} from '../../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../../support/merchant/receiver.ts'
import {
  askRefund,
  newRefundId,
  paidInvoice,
  postRefund,
  refundWhen,
  signedRefund,
} from '../../support/merchant/refunds.ts'

vi.setConfig({ testTimeout: 60_000 })

let gateway: TestGateway
let receiver: Receiver
let shop: TestMerchant
beforeAll(async () => {
  receiver = await openReceiver()
  gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' }, { sandboxPace: 0.05 })
  shop = await gateway.addMerchant()
})
afterAll(async () => {
  await gateway.stop()
  await receiver.close()
})

const refund = (fields: Record<string, unknown>, keys = shop.test) =>
  postRefund(gateway.url, signedRefund(keys, fields))

const refused = ({ http, body }: Awaited<ReturnType<typeof send>>) => [
  http,
  body.error?.code,
  body.error?.field,
]

describe('a refund', () => {
  test('of a paid payment is stored, and its id returns it', async () => {
    const { invoice_id, tx_reference } = await paidInvoice(gateway.url, shop.test)
    const refund_id = newRefundId()
    const { http, body } = await refund({ invoice_id, refund_id, reason: '  One hat\nreturned ' })
    expect(http).toBe(200)
    expect(body).toMatchObject({
      success: true,
      refund_id,
      refund_reference: expect.stringContaining(shop.merchant_id),
      invoice_id,
      tx_reference,
      amount: 10,
      currency: 'GHS',
      state: expect.toBeOneOf([...refundStates]),
      reason: 'One hat returned',
      source: 'payment',
      kind: expect.toBeOneOf(['provider', 'manual']),
      requested_at: expect.stringMatching(/^\d{4}-/),
    })
    const asked = await askRefund(gateway.url, shop.test, refund_id)
    expect(asked.http).toBe(200)
    expect(asked.body).toMatchObject({ refund_id, refund_reference: body.refund_reference, amount: 10 })
  })

  test('may be sent as JSON and as a form', async () => {
    const { invoice_id } = await paidInvoice(gateway.url, shop.test)
    const form = new URLSearchParams(signedRefund(shop.test, { invoice_id }) as Record<string, string>)
    const { http, body } = await send(`${gateway.url}/v1/refunds`, { method: 'POST', body: form })
    expect([http, body.amount]).toEqual([200, 10])
  })

  test('sent twenty times at once is one refund', async () => {
    const { invoice_id } = await paidInvoice(gateway.url, shop.test)
    const request = signedRefund(shop.test, { invoice_id, amount: '25.00' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => postRefund(gateway.url, request)))
    expect(new Set(answers.map(({ http }) => http))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ body }) => body.refund_reference)).size).toBe(1)
  })

  test('with the same id and other fields is refused, and names them', async () => {
    const [first, second] = [
      await paidInvoice(gateway.url, shop.test),
      await paidInvoice(gateway.url, shop.test),
    ]
    const refund_id = newRefundId()
    expect((await refund({ ...first, refund_id, reason: 'a' })).http).toBe(200)
    for (const [fields, names] of [
      [{ ...first, amount: '9.00', reason: 'a' }, ['amount']],
      [{ ...first, reason: 'b' }, ['reason']],
      [{ ...second, reason: 'a' }, ['invoice_id']],
      [{ ...second, amount: '10.0' }, ['invoice_id', 'reason']],
    ] as const) {
      const answer = await refund({ refund_id, ...fields })
      expect(refused(answer)).toEqual([409, 'GW-027', 'refund_id'])
      const differences = answer.body.error.differences as { field: string }[]
      expect(differences.map(({ field }) => field)).toEqual(names)
    }
    const other = await refund({ ...first, refund_id, amount: '9.00', reason: 'a' })
    expect(other.body.error.differences).toEqual([{ field: 'amount', stored: '10.00', sent: '9.00' }])
    expect((await refund({ ...first, refund_id, amount: '10.0', reason: 'a' })).http).toBe(200) // equal in meaning
  })

  test('of more than is left is refused, and says what is left', async () => {
    const { invoice_id } = await paidInvoice(gateway.url, shop.test)
    const more = await refund({ invoice_id, amount: '25.01' })
    expect(refused(more)).toEqual([409, 'GW-020', 'amount'])
    expect(more.body.error).toMatchObject({ left: 25, message: expect.stringContaining('GHS 25.00') })
    expect(more.body.error.doc_url).toBe(`${gateway.url}/docs/errors#gw-020`)
    expect((await refund({ invoice_id, amount: '20.00' })).http).toBe(200)
    expect((await refund({ invoice_id, amount: '5.01' })).body.error.left).toBe(5)
    expect((await refund({ invoice_id, amount: '5.00' })).http).toBe(200)
    const nothing = await refund({ invoice_id, amount: '0.01' })
    expect(nothing.body.error).toMatchObject({ left: 0, message: expect.stringContaining('nothing is left') })
  })

  test('of a payment that is unknown or not paid is refused', async () => {
    expect(refused(await refund({ invoice_id: 'never-made' }))).toEqual([404, 'GW-005', 'invoice_id'])
    const request = signedRequest(shop.test)
    await post(gateway.url, request)
    expect(refused(await refund({ invoice_id: request.invoice_id }))).toEqual([409, 'GW-021', 'invoice_id'])
  })

  test("of another merchant's payment is unknown, and so is its refund", async () => {
    const { invoice_id } = await paidInvoice(gateway.url, shop.test)
    const refund_id = newRefundId()
    expect((await refund({ invoice_id, refund_id })).http).toBe(200)
    const other = await gateway.addMerchant()
    expect(refused(await refund({ invoice_id }, other.test))).toEqual([404, 'GW-005', 'invoice_id'])
    expect(refused(await askRefund(gateway.url, other.test, refund_id))).toEqual([404, 'GW-028', 'refund_id'])
    expect(refused(await askRefund(gateway.url, shop.live, refund_id))).toEqual([404, 'GW-028', 'refund_id'])
  })

  test('in live mode needs the setting, and the daily limit holds', async () => {
    expect(refused(await refund({ invoice_id: 'x' }, shop.live))).toEqual([404, 'GW-005', 'invoice_id'])
    const limited = await gateway.addMerchant('refund_daily_limit=12')
    const { invoice_id } = await paidInvoice(gateway.url, limited.test)
    expect((await refund({ invoice_id }, limited.test)).http).toBe(200)
    const over = await refund({ invoice_id, amount: '2.01' }, limited.test)
    expect(refused(over)).toEqual([409, 'GW-026', 'amount'])
    expect(over.body.error.left).toBe(2)
    expect((await refund({ invoice_id, amount: '2.00' }, limited.test)).http).toBe(200)
  })

  test('of a deactivated merchant is refused; its refunds can still be read', async () => {
    const closed = await gateway.addMerchant()
    const { invoice_id } = await paidInvoice(gateway.url, closed.test)
    const refund_id = newRefundId()
    expect((await refund({ invoice_id, refund_id }, closed.test)).http).toBe(200)
    await gateway.deactivate(closed.merchant_id)
    await expect
      .poll(async () => refused(await refund({ invoice_id }, closed.test)))
      .toEqual([403, 'GW-009', 'merchant_key'])
    expect((await askRefund(gateway.url, closed.test, refund_id)).http).toBe(200)
  })
})

describe('the request', () => {
  const invoice_id = 'any'
  for (const [name, fields, http, code, field] of [
    ['no merchant_key', { merchant_key: undefined }, 400, 'GW-001', 'merchant_key'],
    ['no invoice_id', { invoice_id: '' }, 400, 'GW-002', 'invoice_id'],
    ['no refund_id', { refund_id: undefined }, 400, 'GW-012', 'refund_id'],
    ['no amount', { amount: '' }, 400, 'GW-012', 'amount'],
    ['an amount as a number', { amount: 10 }, 400, 'GW-012', 'amount'],
    ['a refund_id as a number', { refund_id: 7 }, 400, 'GW-012', 'refund_id'],
    ['no hash', { secure_hash: undefined }, 401, 'GW-010', 'secure_hash'],
    ['a wrong hash', { secure_hash: '0'.repeat(64) }, 401, 'GW-010', 'secure_hash'],
    ['an unknown merchant_key', { merchant_key: 'tk_nobody' }, 401, 'GW-008', 'merchant_key'],
    ['a refund_id with a space', { refund_id: 'a b' }, 400, 'GW-012', 'refund_id'],
    ['a refund_id of 65 characters', { refund_id: 'r'.repeat(65) }, 400, 'GW-012', 'refund_id'],
    ['a refund_id of two dots', { refund_id: '..' }, 400, 'GW-012', 'refund_id'],
    ['a long reason', { reason: 'r'.repeat(201) }, 400, 'GW-012', 'reason'],
    ['a reason with a control character', { reason: 'a\u0007' }, 400, 'GW-012', 'reason'],
  ] as const)
    test(`${name}: ${http} ${code}`, async () => {
      expect(refused(await refund({ invoice_id, ...fields }))).toEqual([http, code, field])
    })

  for (const amount of ['0', '-1', '1e1', '10.001', '1,000.00', 'ten'])
    test(`an amount of ${amount} is refused`, async () => {
      const { invoice_id: paid } = await paidInvoice(gateway.url, shop.test)
      expect(refused(await refund({ invoice_id: paid, amount }))).toEqual([400, 'GW-012', 'amount'])
    })

  test('is signed, whatever unsigned_requests says', async () => {
    const open = await gateway.addMerchant('unsigned_requests=on')
    const { invoice_id: paid } = await paidInvoice(gateway.url, open.test)
    const answer = await refund({ invoice_id: paid, secure_hash: undefined }, open.test)
    expect(refused(answer)).toEqual([401, 'GW-010', 'secure_hash'])
    const { merchant_key } = open.test
    const asked = await send(`${gateway.url}/v1/refunds/R-1?merchant_key=${merchant_key}`)
    expect(refused(asked)).toEqual([401, 'GW-010', 'secure_hash'])
  })

  test('with a wrong hash shows the string and the mistake, in test mode only', async () => {
    const { merchant_key, secret_key } = shop.test
    const fields = { amount: '10.00', invoice_id, merchant_key, refund_id: 'R-9' }
    const hashed_string = `amount=10.00&invoice_id=${invoice_id}&merchant_key=${merchant_key}&refund_id=R-9`
    for (const [text, mistake] of [
      [hashed_string.replace('10.00', '10'), 'other_total'],
      [`invoice_id=${invoice_id}&merchant_key=${merchant_key}&refund_id=R-9&amount=10.00`, 'other_order'],
      [hashed_string.replace(/&refund_id=.*/, ''), 'fewer_fields'],
      [hashed_string.replace('amount', 'total'), 'other_names'],
      [`${hashed_string}\n`, 'line_break'],
    ] as const) {
      const { body } = await refund({ ...fields, secure_hash: sign(secret_key, text) })
      expect(body.error.hint).toMatchObject({ hashed_string, mistake, your_string: text })
    }
    const asked = await send(
      `${gateway.url}/v1/refunds/R-9?merchant_key=${merchant_key}&secure_hash=${sign(secret_key, `refund_id=R-9&merchant_key=${merchant_key}`)}`,
    )
    expect(asked.body.error.hint).toMatchObject({
      hashed_string: `merchant_key=${merchant_key}&refund_id=R-9`,
      mistake: 'other_order',
    })
    const live = await refund({ invoice_id, secure_hash: '0'.repeat(64) }, shop.live)
    expect(live.body.error.hint).toBeUndefined()
  })

  test('warns of misspelt fields in test mode', async () => {
    const { invoice_id: paid } = await paidInvoice(gateway.url, shop.test)
    const { body } = await refund({ invoice_id: paid, Reason: 'x', order_id: '1' })
    expect(body.warnings.map(({ code }: { code: string }) => code)).toEqual(['field_case', 'unknown_field'])
  })

  test('is logged when it is refused', async () => {
    const logged = await gateway.addMerchant()
    await refund({ invoice_id: 'none', refund_id: 'R-77', reason: 'private' }, logged.test)
    const rows = () =>
      gateway.db.rows<{ path: string; code: string; fields: Record<string, string> }>({
        text: `select path, code, fields from refused_requests where merchant_id = $1`,
        values: [logged.merchant_id],
      } as never)
    await expect.poll(async () => (await rows()).length, { timeout: 10_000 }).toBe(1)
    const [row] = await rows()
    expect(row).toMatchObject({
      path: '/v1/refunds',
      code: 'GW-005',
      fields: { refund_id: 'R-77', amount: '10.00' },
    })
    expect(row?.fields.reason).not.toContain('private')
  })

  test('other methods are refused, and errors_as_200 holds', async () => {
    expect((await send(`${gateway.url}/v1/refunds`)).http).toBe(405)
    expect((await send(`${gateway.url}/v1/refunds/R-1`, { method: 'POST' })).http).toBe(405)
    const old = await gateway.addMerchant('errors_as_200=on')
    const { http, body } = await refund({ invoice_id: 'none' }, old.test)
    expect([http, body.status_code]).toEqual([200, 404])
  })
})

describe('what the merchant sees', () => {
  test('the status record has the refunds; without any it has none', async () => {
    const { invoice_id } = await paidInvoice(gateway.url, shop.test)
    const question = signedQuestion(shop.test, invoice_id)
    const before = (await checkStatus(gateway.url, question)).body
    expect([before.refunded_amount, before.refunds]).toEqual([null, []])
    const refund_id = newRefundId()
    await refund({ invoice_id, refund_id, reason: 'private' })
    const asked = (await checkStatus(gateway.url, question)).body
    expect(asked.status).toBe('paid')
    expect(asked.refunds).toMatchObject([{ refund_id, amount: 10, currency: 'GHS', reason: 'private' }])
    await refundWhen(gateway.url, shop.test, refund_id)
    const after = (await checkStatus(gateway.url, question)).body
    expect(after.refunded_amount).toBe(10)
    expect(after.refunds).toMatchObject([{ state: 'succeeded', succeeded_at: expect.any(String) }])
    expect(after[invoice_id]).toMatchObject({ refunded_amount: 10, refunds: after.refunds })
    const { merchant_key } = shop.test
    const unsigned = (await checkStatus(gateway.url, { merchant_key, invoice_id })).body
    expect(unsigned.refunds).toMatchObject([{ refund_id, reason: '' }])
    const line = await checkStatus(gateway.url, question, '/v1/gateway/status_chk')
    expect(line.text).toMatch(/^TG-\S+~paid~\S+$/)
  })

  test('every change is in the feed; nothing is delivered without the setting', async () => {
    const quiet = await gateway.addMerchant(`ipn_url=${receiver.url}/quiet`)
    const { invoice_id, tx_reference } = await paidInvoice(gateway.url, quiet.test)
    const refund_id = newRefundId()
    await refund({ invoice_id, refund_id }, quiet.test)
    await refundWhen(gateway.url, quiet.test, refund_id)
    const { events } = (await followFeed(gateway.url, quiet.test)).body
    const types = events.map(({ type }: { type: string }) => type) as string[]
    expect(types[0]).toBe('status')
    expect(types.at(-1)).toBe('refund.succeeded')
    expect(types.slice(1).every(type => type.startsWith('refund.'))).toBe(true)
    const body = JSON.parse(events.at(-1).body)
    expect(body).toMatchObject({
      type: 'refund',
      refund_id,
      invoice_id,
      tx_reference,
      amount: 10,
      state: 'succeeded',
    })
    expect('status' in body).toBe(false)
    await new Promise(resolve => setTimeout(resolve, 500))
    expect(receiver.of(tx_reference).map(one => JSON.parse(one.body).status)).toEqual(['paid'])
  })

  for (const style of ['post', 'basic', 'get'] as const)
    test(`with ipn_refunds a refund is notified, style ${style}`, async () => {
      const merchant = await gateway.addMerchant(
        `ipn_url=${receiver.url}/refunds-${style}`,
        `ipn_style=${style}`,
        'ipn_refunds=on',
      )
      const { invoice_id, tx_reference } = await paidInvoice(gateway.url, merchant.test)
      const refund_id = newRefundId()
      await refund({ invoice_id, refund_id }, merchant.test)
      await refundWhen(gateway.url, merchant.test, refund_id)
      const refunds = () =>
        receiver.received.filter(({ id, sequence }) => id.startsWith(tx_reference) && sequence > 1)
      await expect.poll(() => refunds().length, { timeout: 20_000 }).toBeGreaterThan(1)
      const last = refunds().at(-1)
      if (style === 'get') {
        expect(last).toMatchObject({ method: 'GET', path: `/refunds-get?invoice_id=${invoice_id}`, body: '' })
        return
      }
      const headers = last?.headers as Record<string, string>
      const body = new Webhook(merchant.test.ipn_secret).verify(last?.body ?? '', headers)
      expect(body).toMatchObject({ type: 'refund', refund_id, amount: style === 'basic' ? '10.00' : 10 })
      expect(body).not.toHaveProperty('status')
    })

  test('a setting that cannot be read closes refunds only', async () => {
    const broken = await gateway.addMerchant()
    const { invoice_id } = await paidInvoice(gateway.url, broken.test)
    await gateway.db.rows({
      text: `update merchants set settings = settings || '{"refund_daily_limit": "x"}' where merchant_id = $1`,
      values: [broken.merchant_id],
    } as never)
    await expect
      .poll(async () => refused(await refund({ invoice_id }, broken.test)))
      .toEqual([503, 'GW-050', undefined])
    expect((await checkStatus(gateway.url, signedQuestion(broken.test, invoice_id))).http).toBe(200)
    expect((await setMerchant(gateway.db, broken.merchant_id, ['refund_daily_limit=']))?.faults).toEqual([])
  })
})
