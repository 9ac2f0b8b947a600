import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Unavailable } from '../../src/core/interface/refusal.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { type Db, sql } from '../../src/store/db.ts'
import { testOperatorAuth } from '../support/gateway/operatorAuth.ts'
import type { TestMerchant } from '../support/gateway/gateway.ts'
import { after, hours, minutes, no, seconds, yes } from '../support/payments/rows.ts'
import { messagesOf } from '../support/messages/sender.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'
import { roomyRules, type SupportSite, supportSite } from '../support/gateway/supportSite.ts'

const sites: SupportSite[] = []
let shop: TestShop
let merchant: TestMerchant
let url: string
const now = new Date()

let ticks = 0
const ticking = () => after(seconds(1) + ++ticks, now) // no two presses in one moment

beforeAll(async () => {
  shop = await openShop()
  shop.setNow(now)
  merchant = await shop.addMerchant('Ama Shop', 'ipn_url=https://ama.example/ipn?secret=1')
  url = await serve()
})
afterAll(async () => {
  for (const site of sites) site.stop()
  await shop.stop()
})

async function serve(rules = roomyRules, door = testOperatorAuth(), db: Db = shop.db) {
  const site = await supportSite({ ...shop.runtime, db, clock: ticking }, door, rules)
  sites.push(site)
  return site.url
}

const arrived = ({ tx_reference }: Payment) =>
  shop.db.rows(sql`
    update messages set state = 'sent', messenger = 'smpp', sent_at = ${now}, next_try_at = null
    where tx_reference = ${tx_reference}`)

async function paid(fields: Record<string, unknown> = {}) {
  const asked = await shop.ask(merchant, { number: '0241234567', email: 'ama@mail.example', ...fields })
  const payment = await shop.try(asked, yes)
  await arrived(payment)
  return payment
}

type Form = Record<string, string>
// By default as from a page of this host.
async function press(path: string, form: Form, headers: Form = { origin: url }, at = url) {
  const body = new URLSearchParams(form)
  const answer = await fetch(at + path, { method: 'POST', body, headers, redirect: 'manual' })
  return { http: answer.status, to: answer.headers.get('location'), text: await answer.text() }
}
const look = async (payment: Payment, more = '') =>
  (await fetch(`${url}/support?q=${payment.tx_reference}${more}`)).text()
const said = (html: string) => html.replace(/<[^>]+>/g, '').replace(/\s+/g, ' ')

// The fields of the forms of a page.
const formsIn = (html: string) =>
  [...html.matchAll(/<form method="post" action="([^"]+)">(.*?)<\/form>/gs)].map(
    ([, action, inner = '']) => ({
      action: action ?? '',
      form: Object.fromEntries(
        [...inner.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
          name ?? '',
          value ?? '',
        ]),
      ),
    }),
  )
const formOf = async (payment: Payment, action: string, medium?: string) => {
  const found = formsIn(await look(payment)).find(
    one => one.action === action && (!medium || one.form.medium === medium),
  )
  return found?.form ?? {}
}
const deliveryOf = ({ tx_reference }: Payment) =>
  shop.db.one<{ next_try_at: Date; begun_at: Date; tries: number }>(
    sql`select * from deliveries where tx_reference = ${tx_reference}`,
  )
const end = ({ tx_reference }: Payment) =>
  shop.db.rows(sql`
    update deliveries set next_try_at = null, exhausted_at = ${now}, tries = 16, begun_at = ${after(-hours(24), now)}
    where tx_reference = ${tx_reference}`)

describe('a form of another site', () => {
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'nonsense' },
  ] as Record<string, string>[])
    test(`(${JSON.stringify(headers)}) is refused`, async () => {
      const payment = await paid()
      await end(payment)
      for (const action of ['/support/receipt', '/support/redeliver']) {
        const { http, text } = await press(action, await formOf(payment, action), headers)
        expect(http).toBe(403)
        expect(text).toContain('This did not come from our page')
      }
      expect(await messagesOf(shop.db, payment)).toHaveLength(2)
      expect(await deliveryOf(payment)).toMatchObject({ next_try_at: null })
    })
  for (const headers of [{}, { origin: 'null' }, { 'sec-fetch-site': 'none' }] as Form[])
    test(`(${JSON.stringify(headers)}) without the token of the page, or with that of another, is refused, too`, async () => {
      const [payment, other] = [await paid(), await paid()]
      await end(payment)
      for (const action of ['/support/receipt', '/support/redeliver'])
        for (const form_token of ['', (await formOf(other, action)).form_token ?? ''])
          expect(
            (await press(action, { ...(await formOf(payment, action)), form_token }, headers)).http,
          ).toBe(403)
      expect(await messagesOf(shop.db, payment)).toHaveLength(2)
      expect(await deliveryOf(payment)).toMatchObject({ next_try_at: null })
    })
  for (const headers of [
    {},
    { origin: 'null' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-origin', origin: 'null' },
  ] as Record<string, string>[])
    test(`but our form (${JSON.stringify(headers)}) is accepted`, async () => {
      const payment = await paid()
      const { http } = await press('/support/receipt', await formOf(payment, '/support/receipt'), headers)
      expect(http).toBe(303)
    })
})

test('without the password every form is refused', async () => {
  const payment = await paid()
  const guarded = await serve(roomyRules, testOperatorAuth('a password of sixteen'))
  for (const action of ['/support/receipt', '/support/redeliver'])
    expect((await press(action, await formOf(payment, action), {}, guarded)).http).toBe(401)
  expect(await messagesOf(shop.db, payment)).toHaveLength(2)
})

describe('an invalid form changes nothing', () => {
  for (const [name, form] of [
    ['nothing', {}],
    [
      'no such payment',
      { merchant: 'nobody', reference: 'TG-000000-000000-000000', medium: 'sms', number: '2' },
    ],
    ['a null character', { merchant: '\0', reference: '\0', sequence: '1', seen: '\0' }],
    ['no number', { merchant: 'x', reference: 'y', sequence: '-1', number: 'x' }],
  ] as const)
    test(name, async () => {
      for (const action of ['/support/receipt', '/support/redeliver'])
        expect((await press(action, form)).http).toBe(404)
    })
  test('a body that is too large', async () => {
    expect((await press('/support/receipt', { reference: 'x'.repeat(70_000) })).http).toBe(413)
  })
  test('another time than that at which the delivery began', async () => {
    const payment = await paid()
    await end(payment)
    const form = await formOf(payment, '/support/redeliver')
    for (const seen of ['', 'nonsense', now.toISOString()]) {
      const { http, to } = await press('/support/redeliver', { ...form, seen })
      expect([http, to]).toEqual([303, expect.stringContaining('done=already')])
    }
    expect(await deliveryOf(payment)).toMatchObject({ next_try_at: null })
  })
})

const fail = () => Promise.reject(new Unavailable(new Error('gone')))

test('database unavailable', async () => {
  const at = await serve(roomyRules, testOperatorAuth(), {
    ...shop.db,
    rows: fail,
    one: fail,
    transaction: fail,
  })
  for (const action of ['/support/receipt', '/support/redeliver'])
    expect(
      (await press(action, { merchant: 'x', reference: 'y', sequence: '1' }, { origin: at }, at)).http,
    ).toBe(503)
})

test('a refusal is explained on the page of the payment', async () => {
  const payment = await paid()
  const strict = await serve({ ...roomyRules, perRecipient: 1 })
  const form = await formOf(payment, '/support/receipt', 'sms')
  const { http, text } = await press('/support/receipt', form, { origin: strict }, strict)
  expect(http).toBe(409)
  expect(said(text)).toContain('The receipt was not sent again. The recipient has had all the messages')
  expect(text).toContain(payment.tx_reference)
  expect(await messagesOf(shop.db, payment)).toHaveLength(2)
})

test('the receipt is sent again to the chosen address, once, however often the button is pressed', async () => {
  const payment = await paid()
  const form = await formOf(payment, '/support/receipt', 'email')
  const first = await press('/support/receipt', form)
  expect([first.http, first.to]).toEqual([
    303,
    `/support?q=${payment.tx_reference}&merchant=${merchant.merchant_id}&done=receipt`,
  ])
  expect((await press('/support/receipt', form)).to).toContain('done=already')
  const sent = await messagesOf(shop.db, payment)
  expect(sent.map(({ medium }) => medium).sort()).toEqual(['email', 'email', 'sms'])
  const page = said(await (await fetch(url + first.to)).text())
  expect(page).toContain('The receipt is on its way again.')
  expect(page).toContain('Sent the receipt again by email')
  expect(page).toContain('One is still being sent')
  expect(formsIn(await look(payment)).filter(({ form: { medium } }) => medium === 'email')).toEqual([])
})

test('a notification is sent again from the start of its schedule, once, however often the button is pressed', async () => {
  const payment = await paid()
  await end(payment)
  const form = await formOf(payment, '/support/redeliver')
  const came = await Promise.all([press('/support/redeliver', form), press('/support/redeliver', form)])
  expect(came.map(({ to }) => /done=(\w+)/.exec(to ?? '')?.[1])).toEqual(
    expect.arrayContaining(['already', 'redelivered']),
  )
  expect(await deliveryOf(payment)).toMatchObject({ next_try_at: expect.any(Date), tries: 16 })
  await shop.db.rows(sql`
    update deliveries set next_try_at = null, acknowledged_at = ${now}, tries = 17
    where tx_reference = ${payment.tx_reference}`)
  expect((await press('/support/redeliver', form)).to).toContain('done=already') // the page of before
  expect(await deliveryOf(payment)).toMatchObject({ next_try_at: null })
})

test('a notification in flight has no button, and one without an address shows why it is not sent', async () => {
  const payment = await paid()
  const form = await formOf(payment, '/support/redeliver')
  await shop.db.rows(sql`
    update deliveries set lease_token = 'x', lease_until = ${after(seconds(30), now)}
    where tx_reference = ${payment.tx_reference}`)
  expect(said(await look(payment))).toContain('Being sent at this moment.')
  expect(await formOf(payment, '/support/redeliver')).toEqual({})
  const { http, text } = await press('/support/redeliver', form)
  expect([http, said(text)]).toEqual([409, expect.stringContaining('It is being sent at this moment')])
  const silent = await shop.addMerchant('Without an address')
  const quiet = await shop.try(await shop.ask(silent), yes)
  const refused = await press('/support/redeliver', await formOf(quiet, '/support/redeliver'))
  expect([refused.http, said(refused.text)]).toEqual([409, expect.stringContaining('its ipn_url is not set')])
})

test('every try is shown: its time, result and duration, and the time of the next', async () => {
  shop.setNow(after(-minutes(2), now))
  const payment = await shop.try(await shop.ask(merchant, { number: '0241234567' }), no)
  shop.setNow(now)
  const { merchant_id, tx_reference } = payment
  const at = after(-minutes(1), now)
  await shop.db.rows(sql`
    insert into tries (merchant_id, tx_reference, sequence, try, started_at, ms, address, status, result, words)
    values (${merchant_id}, ${tx_reference}, 1, 1, ${at}, 35, '192.0.2.1', 500, 'server_error', '')`)
  await shop.db.rows(sql`
    update deliveries set tries = 2, last_try = 2, last_try_at = ${at}, last_ms = 10000, last_result = 'timeout',
      last_words = '', next_try_at = ${after(minutes(5), now)} where tx_reference = ${tx_reference}`)
  const html = await look(payment)
  const page = said(html)
  for (const words of [
    'Notifications to the shopfailed',
    `${tx_reference}-N1`,
    'To https://ama.example/ipn',
    'Not acknowledged yet.',
    `Next try: ${after(minutes(5), now).toISOString().slice(0, 19).replace('T', ' ')} UTC`,
    'try 1',
    '500: the endpoint failed with a server error35 ms',
    'try 2',
    'no answer in time10000 ms',
  ])
    expect(page).toContain(words)
  expect(html).not.toContain('secret=1')
})

const heading = (html: string) => /<h1>(.*?)<\/h1><p>(.*?)<\/p>/.exec(html)?.slice(1)

test('the page begins with the verdict, the reason and the action', async () => {
  const payment = await paid()
  const { tx_reference } = payment
  expect(heading(await look(payment))).toEqual([
    'Paid. The shop is notified next.',
    expect.stringMatching(
      /^No try yet, next \d\d:\d\d UTC\. The money is safe\. The customer has a receipt\.$/,
    ),
  ])
  await shop.db.rows(sql`
    update deliveries set tries = 3, retry = true, last_try = 3, last_try_at = ${now}, last_ms = 3,
      last_result = 'no_connection', last_words = 'the connection was refused', next_try_at = ${after(minutes(5), now)}
    where tx_reference = ${tx_reference}`)
  const html = await look(payment)
  const next = after(minutes(5), now).toISOString().slice(11, 16)
  expect(heading(html)?.[0]).toBe('Paid. The shop has not acknowledged.')
  expect(heading(html)?.[1]).toMatch(/^The connection was refused, 3 tries, next /)
  expect(heading(html)?.[1]).toContain(next)
  expect(said(html)).toContain('The shop has not acknowledged “paid”: 3 tries')
  expect(said(html)).toContain('Nothing else: paid is final')
  const [first] = formsIn(html)
  expect([first?.action, html.indexOf('Send again')]).toEqual(['/support/redeliver', expect.any(Number)])
  expect(html.indexOf('Send again')).toBeLessThan(html.indexOf('What happened'))
  expect((await press('/support/redeliver', first?.form ?? {})).to).toContain('done=redelivered')
})

test('messages to the customer are shown with recipient, messenger and state', async () => {
  const page = said(await look(await paid()))
  for (const words of ['SMS: the receipt to 024 ••• 4567', 'Mail: the receipt to a••@••', 'sent by smpp'])
    expect(page).toContain(words)
  const quiet = await shop.try(await shop.ask(merchant), yes)
  expect(said(await look(quiet))).toContain('neither a phone number nor an email address')
  const failed = await shop.try(await shop.ask(merchant, { number: '0241234567' }), no)
  expect(formsIn(await look(failed)).filter(({ action }) => action === '/support/receipt')).toEqual([])
})

test('an unknown notice is not shown', async () => {
  expect(await look(await paid(), '&done=<b>Paid</b>')).not.toContain('role="status"')
})
