import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Unavailable } from '../../src/core/interface/refusal.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import type { TestMerchant } from '../support/gateway/gateway.ts'
import { type InboxSite, inboxSite, writeMessage } from '../support/gateway/inboxSite.ts'
import { after, noon, seconds, yes } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'

let shop: TestShop
let merchant: TestMerchant
let payment: Payment
let site: InboxSite
const json = { accept: 'application/json' }

beforeAll(async () => {
  shop = await openShop()
  shop.setNow(noon)
  merchant = await shop.addMerchant()
  payment = await shop.try(await shop.ask(merchant, { invoice_id: 'AMA-1' }, 'test'), yes)
  const live = await shop.try(await shop.ask(merchant, { invoice_id: 'LIVE-1' }), yes)
  await writeMessage(shop.db, payment, { created_at: after(seconds(1)), messenger: 'inbox', sent_at: noon })
  await writeMessage(shop.db, payment, {
    created_at: after(seconds(2)),
    medium: 'email',
    recipient: 'Esi+shop@mail.example',
    state: 'queued',
    next_try_at: after(seconds(9)),
  })
  await writeMessage(shop.db, live, { created_at: after(seconds(3)), recipient: '+233209876543' })
  site = await inboxSite({ runtime: shop.runtime })
})
afterAll(async () => {
  site.stop()
  await shop.stop()
})

async function read(query = '', headers: Record<string, string> = json, at = site.url) {
  const answer = await fetch(`${at}/inbox${query}`, { headers })
  const text = await answer.text()
  return { http: answer.status, type: answer.headers.get('content-type'), body: JSON.parse(text) }
}
const ids = ({ body }: Awaited<ReturnType<typeof read>>) =>
  body.messages.map(({ kind, topic }: Record<string, string>) => `${kind} ${topic}`)

describe('an invalid query is refused with the reason', () => {
  for (const [query, field] of [
    ['?limit=0', 'limit'],
    ['?limit=101', 'limit'],
    ['?limit=many', 'limit'],
    ['?to=nobody', 'to'],
    ['?to=%00@x', 'to'],
    [`?reference=${'x'.repeat(300)}`, 'reference'],
  ] as const)
    test(query.slice(0, 30), async () => {
      const { http, body } = await read(query)
      expect([http, body.error.code, body.error.field]).toEqual([400, 'GW-012', field])
    })
})

test('a request without the token is refused in JSON', async () => {
  const guarded = await inboxSite({ runtime: shop.runtime, token: 'a password of sixteen' })
  const refused = await read('', json, guarded.url)
  expect([refused.http, refused.type, refused.body.error.code]).toEqual([401, 'application/json', 'password'])
  expect(refused.body.error.message).toContain('tollgate support link')
  const authorization = `Basic ${Buffer.from('ama:a password of sixteen').toString('base64')}`
  expect((await read('', { ...json, authorization }, guarded.url)).http).toBe(200)
  guarded.stop()
})

const fail = () => Promise.reject(new Unavailable(new Error('gone')))

test('database unavailable', async () => {
  const broken = await inboxSite({ runtime: { ...shop.runtime, db: { ...shop.db, rows: fail, one: fail } } })
  expect(await read('', json, broken.url)).toMatchObject({ http: 503, body: { error: { code: 'GW-050' } } })
  broken.stop()
})

test('a browser still gets the page', async () => {
  for (const accept of ['text/html', 'text/html,application/json', '*/*'])
    expect((await fetch(`${site.url}/inbox`, { headers: { accept } })).headers.get('content-type')).toContain(
      'text/html',
    )
})

test('the list has every message as its reader sees it, newest first', async () => {
  const { http, type, body } = await read()
  expect([http, type]).toEqual([200, 'application/json'])
  expect(body.older).toBeNull()
  const [live, mail, sms] = body.messages
  expect(sms).toEqual({
    id: expect.any(String),
    merchant_id: merchant.merchant_id,
    kind: 'sms',
    topic: 'paid',
    mode: 'test',
    to: '+233241234567',
    subject: null,
    text: expect.stringContaining('GHS 25.00'),
    html: null,
    segments: 1,
    lang: 'en',
    state: 'kept',
    words: '',
    messenger: 'inbox',
    reference: payment.tx_reference,
    invoice_id: 'AMA-1',
    created_at: after(seconds(1)).toISOString(),
    sent_at: noon.toISOString(),
  })
  expect(mail).toMatchObject({
    kind: 'email',
    to: 'Esi+shop@mail.example',
    subject: expect.stringContaining('GHS 25.00'),
    html: expect.stringContaining('<html'),
    segments: null,
    state: 'queued',
  })
  expect(live).toMatchObject({ mode: 'live', to: '020 ••• 6543' }) // a customer's own
})

for (const [query, found] of [
  ['?to=024 123 4567', ['sms paid']],
  ['?to=%2B233(0)241234567', ['sms paid']],
  ['?to=esi@mail.example', ['email paid']], // one mailbox, however it is written
  ['?to=0201112223', []],
  ['?reference=AMA-1', ['email paid', 'sms paid']],
  ['?reference=AMA-1&to=0241234567', ['sms paid']],
  ['?reference=AMA-1&limit=1', ['email paid']],
  ['?reference=NOPE', []],
] as const)
  test(`${query} finds ${found.join(', ') || 'nothing'}`, async () =>
    expect(ids(await read(query))).toEqual(found))

test('a reference is found in the form in which people read it out', async () => {
  const spelled = payment.tx_reference.toLowerCase().replaceAll('-', ' ')
  expect(ids(await read(`?reference=${encodeURIComponent(spelled)}`))).toEqual(['email paid', 'sms paid'])
})

test('the list continues where it stopped', async () => {
  const first = await read('?limit=2')
  expect(first.body.messages).toHaveLength(2)
  const rest = await read(`?limit=2&before=${encodeURIComponent(first.body.older)}`)
  expect(ids(rest)).toEqual(['sms paid'])
  expect(rest.body.older).toBeNull()
})

test('a single message', async () => {
  const [message] = (await read('?limit=1')).body.messages
  const path = `/${message.merchant_id}/${message.id}`
  expect((await read(path)).body).toEqual(message)
  for (const other of [`/${message.merchant_id}/nope`, `/nobody/${message.id}`])
    expect((await fetch(`${site.url}/inbox${other}`, { headers: json })).status).toBe(404)
})
