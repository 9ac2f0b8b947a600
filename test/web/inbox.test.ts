import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Unavailable } from '../../src/core/interface/refusal.ts'
import type { Medium } from '../../src/core/message/messenger.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { sql } from '../../src/store/db.ts'
import type { TestMerchant } from '../support/gateway/gateway.ts'
import { type InboxSite, inboxSite, type SiteOptions, writeMessage } from '../support/gateway/inboxSite.ts'
import { after, minutes, no, noon, seconds, yes } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'

const token = 'pass:word with 16+'
const nasty = `<script>alert(1)</script>"'&`
const sites: InboxSite[] = []
let shop: TestShop
let merchant: TestMerchant
let payment: Payment
let mailId: string
let open: string // without a token

async function serve(changed: Partial<SiteOptions> = {}) {
  const site = await inboxSite({ runtime: shop.runtime, ...changed })
  sites.push(site)
  return site.url
}

async function get(url: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { headers })
  return { http: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() }
}

const said = (html: string) => html.replace(/<[^>]+>/g, '').replace(/\s+/g, ' ')
const clear = () => shop.db.rows(sql`delete from messages`)
const mailAddress = (id: string) => `/inbox/${payment.merchant_id}/${id}/html`
const guarded = () => ['/inbox', '/inbox/inbox.css', mailAddress('m1')]
const fail = () => Promise.reject(new Unavailable(new Error('gone')))
const among = (media: readonly Medium[]) => (medium: Medium) => media.includes(medium)

beforeAll(async () => {
  shop = await openShop()
  shop.setNow(noon)
  merchant = await shop.addMerchant(`Ama ${nasty}`)
  payment = await shop.ask(merchant, { description: nasty }, 'test')
  await shop.try(payment, no)
  shop.setNow(after(minutes(2)))
  payment = await shop.hear(payment, yes)
  expect(payment).toMatchObject({ status: 'paid', late: true })
  open = await serve()
})
afterAll(async () => {
  for (const site of sites) site.stop()
  await shop.stop()
})

test('an empty inbox says how to fill it', async () => {
  const { http, text } = await get(`${open}/inbox`)
  expect(http).toBe(200)
  for (const words of ['No message yet', 'Make a test payment with a number and an email address'])
    expect(text).toContain(words)
})

describe('messages', () => {
  beforeAll(async () => {
    await writeMessage(shop.db, payment, {
      topic: 'failed',
      created_at: after(seconds(1)),
      state: 'queued',
      tries: 2,
      words: 'The network is busy.',
      next_try_at: after(minutes(9)),
    })
    const sent = { created_at: after(minutes(2)), messenger: 'smpp', sent_at: after(minutes(3)) }
    await writeMessage(shop.db, payment, { ...sent, state: 'delivered' })
    mailId = await writeMessage(shop.db, payment, {
      topic: 'failed',
      medium: 'email',
      lang: 'fr',
      created_at: after(minutes(3)),
      state: 'dropped',
      words: `No such mailbox ${nasty}`,
    })
  })

  test('are shown newest first, as their readers see them', async () => {
    const { http, text } = await get(`${open}/inbox`)
    expect(http).toBe(200)
    expect([...text.matchAll(/<h2>(.*?)<\/h2>/g)].map(match => match[1])).toEqual([
      'Mail: not paid',
      'SMS: paid',
      'SMS: not paid',
    ])
    for (const words of [
      'TEST Paid GHS 25.00 to Ama &lt;script&gt;',
      `http://pay.example/checkout/${payment.tx_token}</blockquote>`,
      'TEST Paiement non abouti\u00a0: 25,00\u00a0GHS à Ama &lt;script&gt;',
      'Non payé\u00a0: le solde du compte est insuffisant', // the reason then, not that of today
      'kofi@customer.example',
      '+233241234567',
      'MTN MoMo',
      `href="/checkout/${payment.tx_token}"`,
      `/support?q=${payment.tx_reference}`,
    ])
      expect(text).toContain(words)
    expect(text).toMatch(/1 segment, \d{2,3} of 160 characters/)
  })

  test('show their state', async () => {
    const { text } = await get(`${open}/inbox`)
    for (const words of [
      'delivered by smpp',
      '2026-03-02 12:03:00 UTC',
      'not sent',
      'No such mailbox &lt;script&gt;',
      'The network is busy.',
      'Tried 2 times, again at 2026-03-02 12:09:00 UTC',
    ])
      expect(said(text)).toContain(words)
  })

  test('run nothing, load nothing from other sites, and are not cached', async () => {
    const { headers, text } = await get(`${open}/inbox`)
    expect(text).not.toMatch(/<script|javascript:|\son\w+=|style=|srcdoc/i)
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
    expect(text.match(/<iframe[^>]*>/g)).toEqual([
      expect.stringMatching(/ sandbox="allow-popups allow-popups-to-escape-sandbox"/),
    ])
  })

  test('a mail is in a sandboxed frame', async () => {
    const { http, headers, text } = await get(open + mailAddress(mailId))
    expect(http).toBe(200)
    expect(text).toMatch(/^<!doctype html>\n<html lang="fr"/)
    expect(text).not.toContain('<script')
    expect(headers['content-security-policy']).toMatch(/^default-src 'none';.* sandbox allow-popups /)
    expect(headers).toMatchObject({ 'x-frame-options': 'SAMEORIGIN', 'cache-control': 'no-store' })
    expect(headers).not.toHaveProperty('cross-origin-opener-policy')
  })

  test('a message that is not a mail has no HTML', async () => {
    for (const id of ['nope', '%00', 'm000001', '%ff'])
      expect((await get(open + mailAddress(id))).http).toBe(404)
  })

  test('of customers are masked', async () => {
    const live = await shop.ask(merchant, {}, 'live')
    await writeMessage(shop.db, live)
    await writeMessage(shop.db, live, { medium: 'email', recipient: 'esi@customer.example' })
    const { text } = await get(`${open}/inbox`)
    for (const words of ['024 ••• 4567', 'e••@••']) expect(text).toContain(words)
    expect(text).not.toContain('esi@customer')
  })

  test('to a merchant name the undelivered notifications, as long as there are any', async () => {
    const { merchant_id, mode, tx_reference } = payment
    const notice = { topic: 'exhausted', medium: 'email', recipient: 'dev@shop.example' } as const
    const id = await writeMessage(shop.db, payment, { ...notice, created_at: after(minutes(10)) })
    expect((await get(`${open}/inbox`)).text).toContain('It is no longer needed')
    expect((await get(open + mailAddress(id))).http).toBe(404)
    await shop.db.rows(sql`
      insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at,
        last_result, exhausted_at)
      values (${merchant_id}, ${tx_reference}, 1, ${mode}, 'https://shop.example/ipn', 'https://shop.example:443', 'post',
        ${noon}, ${noon}, 'other_2xx', ${after(minutes(9))})`)
    const { text } = await get(`${open}/inbox`)
    for (const words of [
      'Mail: notifications not delivered',
      'One notification to Ama',
      `${tx_reference}-N1`,
    ])
      expect(text).toContain(words)
    expect((await get(open + mailAddress(id))).text).toContain('One notification could not be delivered')
  })

  for (const [words, changed] of [
    ['kept here', { messenger: 'inbox', sent_at: noon }],
    ['sent by smtp', { messenger: 'smtp', sent_at: noon }],
    ['on its way', { state: 'queued', tries: 1, sent_at: noon, next_try_at: after(minutes(5)) }],
    ['Goes out at 2026-03-02 12:05:00 UTC', { state: 'queued', next_try_at: after(minutes(5)) }],
    [
      'Tried once, again at 2026-03-02 12:05:00 UTC',
      { state: 'queued', tries: 1, next_try_at: after(minutes(5)) },
    ],
  ] as const)
    test(words, async () => {
      await clear()
      await writeMessage(shop.db, payment, changed)
      expect(said((await get(`${open}/inbox`)).text)).toContain(words)
    })
})

for (const [media, words] of [
  [[], 'Nothing leaves this machine'],
  [['sms'], 'SMS really go out'],
  [['email'], 'Mails really go out'],
  [['sms', 'email'], 'SMS and mails really go out'],
] as const)
  test(`with ${media.join(' and ') || 'no messenger'} it shows: ${words}`, async () => {
    const url = await serve({ isSent: among(media) })
    expect((await get(`${url}/inbox`)).text).toContain(words)
  })

test('the sender of a mail is shown', async () => {
  await writeMessage(shop.db, payment, { medium: 'email' })
  const url = await serve({ from: 'Ama <pay@ama.example>' })
  expect((await get(`${url}/inbox`)).text).toContain('Ama &lt;pay@ama.example&gt;')
})

test('a page has a hundred messages, and each message is on one page', async () => {
  await clear()
  const ids: string[] = []
  for (let at = 0; at < 230; at++)
    ids.push(
      await writeMessage(shop.db, payment, { created_at: after(Math.floor(at / 7)), words: `number ${at}.` }),
    )
  const seen: string[] = []
  const lengths: number[] = []
  let path: string | undefined = '/inbox'
  while (path) {
    const { text } = await get(open + path)
    const shown = [...text.matchAll(/number (\d+)\./g)].map(match => match[1] ?? '')
    seen.push(...shown)
    lengths.push(shown.length)
    path = /href="([^"]+)">Older/.exec(text)?.[1]?.replaceAll('&amp;', '&')
  }
  expect(lengths).toEqual([100, 100, 30])
  expect(seen).toEqual(ids.map((_, at) => String(229 - at)))
})

for (const before of [
  '',
  'x',
  '2026-99-99T99:99:99.999Z~m',
  '2026-03-02T12:00:00.000Z~%00',
  '-271821-04-20T00:00:00.000Z~a~m',
  'x'.repeat(3000),
])
  test(`the cursor ${before.slice(0, 40)} is the beginning`, async () => {
    const { http, text } = await get(`${open}/inbox?before=${before}`)
    expect(http).toBe(200)
    expect(text).toContain('number 229.')
  })

test('after the end there is a link back', async () => {
  const { text } = await get(`${open}/inbox?before=2020-01-01T00:00:00.000Z~a~m`)
  for (const words of ['Nothing older', 'Newest']) expect(text).toContain(words)
})

test('database unavailable', async () => {
  const url = await serve({ runtime: { ...shop.runtime, db: { ...shop.db, rows: fail, one: fail } } })
  for (const path of ['/inbox', mailAddress('m1')]) {
    const { http, headers, text } = await get(url + path)
    expect([http, headers['retry-after']]).toEqual([503, '5'])
    expect(text).toContain('The database is unavailable')
  }
})

test('the token is needed', async () => {
  const url = await serve({ token })
  const authorization = `Basic ${Buffer.from(`ama:${token}`).toString('base64')}`
  for (const path of guarded()) {
    const refused = await get(url + path)
    expect(refused.http).toBe(401)
    expect(refused.headers['www-authenticate']).toMatch(/^Basic/)
    expect(refused.text).not.toContain(payment.tx_reference)
  }
  expect((await get(`${url}/inbox`, { authorization })).text).toContain(payment.tx_reference)
})
