import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { stagePage } from '../../../src/web/checkout/checkout.tsx'
import { checkoutForPage } from '../../../src/web/checkout/open.tsx'
import { attemptFor, scenes, viewOf } from '../../support/checkout/views.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant

beforeAll(async () => {
  gateway = await testGateway({}, { sandboxPace: 0.1 })
  shop = await gateway.addMerchant('support_phone=0302550100')
})
afterAll(() => gateway.stop())

// A customer whose details no page may show. The last digits make the sandbox wait, refuse or pay.
const customer = (ending = '456') => ({
  number: `0244987${ending}`,
  email: 'akosua.mensah@mail.example',
  name: 'Akosua Mensah',
})

async function newCheckout(fields: Record<string, unknown> = {}): Promise<string> {
  const { http, body, text } = await post(gateway.url, signedRequest(shop.test, fields))
  assert.equal(http, 200, text)
  return body.checkout_url
}

const get = (url: string) => send(url, { headers: { accept: 'text/html' } })
const submit = (url: string, fields: Record<string, string>) =>
  send(url, { method: 'POST', body: new URLSearchParams(fields) })
const payFromFile = (url: string, more: Record<string, string> = {}) =>
  submit(`${url}/pay`, {
    number: '1',
    payment_method: 'mtn_mobile_money',
    on_file: 'request',
    'mtn_mobile_money.phone': '',
    ...more,
  })

async function until(url: string, stage: string) {
  for (let tries = 0; tries < 300; tries++, await sleep(20))
    if ((await send(`${url}/state`)).body.stage === stage) return get(url)
  return assert.fail(`never ${stage}`)
}

const instruments = async (url: string) =>
  (
    await gateway.db.rows<{ instrument: string }>(sql`
      select instrument from attempts join payments using (merchant_id, tx_reference)
      where tx_token = ${url.split('/').at(-1)} order by attempts.number`)
  ).map(({ instrument }) => instrument)

// No detail of the customer in full, in any spelling.
function expectMasked(text: string, where: string) {
  expect(text.replace(/[\s.()-]|&nbsp;|\u00a0/g, ''), where).not.toMatch(/44987\d{3}/)
  expect(text, where).not.toMatch(/akosua|mensah/i)
}

describe('behind a shared link', () => {
  test('no page shows the number, the email address or the name of the customer in full', async () => {
    const url = await newCheckout({ ...customer('002'), description: 'Airtime for 0244 987 002' })
    const seen: Record<string, string> = {}
    const look = async (name: string, path = '') => (seen[name] = (await get(url + path)).text)
    await look('choose')
    await look('choose in French', '?lang=fr')
    await look('cancel', '/cancel')
    await look('again before any try', '?again=same')
    const words = { number: '1', on_file: 'request', payment_method: 'telecel_cash' }
    seen.words = (await submit(`${url}/words?lang=fr`, words)).text
    seen.nothing_chosen = (await submit(`${url}/pay`, { number: '1', on_file: 'request' })).text
    seen.no_voucher = (await submit(`${url}/pay`, words)).text
    expect((await payFromFile(url)).http).toBe(303)
    await look('wait')
    seen.failed = (await until(url, 'failed')).text
    await look('again', '?again=same')
    await look('another way', '?again=other')
    seen.state = (await send(`${url}/state`)).text
    for (const [name, text] of Object.entries(seen)) expectMasked(text, name)
    for (const name of ['choose', 'words', 'nothing_chosen', 'no_voucher', 'again', 'another way'])
      expect(seen[name], name).toMatch(/(Pay from|Payer avec le) <strong[^>]*>024 ••• 7002</)
    expect(seen.choose).toContain('Airtime for 024 ••• 7002')
    expect(seen.choose).toContain('030 255 0100') // the shop's own number is for everybody
  })

  test('nor do the pages of a payment that is paid', async () => {
    const url = await newCheckout({ ...customer('000'), email: null })
    expect((await payFromFile(url)).http).toBe(303)
    expectMasked((await until(url, 'paid')).text, 'paid')
    const receipt = (await get(`${url}/receipt`)).text
    expectMasked(receipt, 'receipt')
    expect(receipt.replaceAll('\u00a0', ' ')).toContain('MTN MoMo 024 ••• 7000')
  })

  test('nor do the texts of the provider', () => {
    const attempt = attemptFor({ provider_text: 'We asked 0244123456. Dial *110*246810135#.' })
    const waiting = { ...scenes.wait, mode: 'live' as const, attempts: [attempt] }
    const asks = attemptFor({
      state: 'needs_input',
      given: { email: 'ama@mail.example' },
      step: {
        name: 'otp',
        text: 'Type the code sent to +233 24 412 3456 or Ama@mail.example.',
        fields: [{ name: 'otp', kind: 'digits' }],
      },
    })
    const stepping = { ...scenes.step, mode: 'live' as const, attempts: [asks] }
    const html = [waiting, stepping]
      .map(more => viewOf(more))
      .map(view => stagePage({ ...view, checkout: checkoutForPage(view.checkout) }).toString())
      .join()
    expect(html).toContain('We asked 024 ••• 3456. Dial *110*246810135#.')
    expect(html).toContain('Type the code sent to 024 ••• 3456 or a••@mail.example.')
  })
})

describe('the number on file', () => {
  test('pays without being typed', async () => {
    const url = await newCheckout(customer())
    expect((await payFromFile(url)).http).toBe(303)
    expect(await instruments(url)).toEqual(['+233244987456'])
  })

  test('is replaced by the input, which is shown only in the answer to that form', async () => {
    const url = await newCheckout(customer())
    const wrong = await payFromFile(url, { 'mtn_mobile_money.phone': '0201 23' })
    expect(wrong.http).toBe(422)
    expect(wrong.text).toMatch(/<details open="">.*name="mtn_mobile_money.phone" value="0201 23"/s)
    expect((await get(url)).text).not.toContain('0201 23')
    expect((await payFromFile(url, { 'mtn_mobile_money.phone': '0201234567' })).http).toBe(303)
    expect(await instruments(url)).toEqual(['+233201234567'])
  })

  test('is the one that the page showed, whatever was tried in between', async () => {
    const url = await newCheckout(customer('002'))
    await payFromFile(url, { 'mtn_mobile_money.phone': '0244555003' })
    await until(url, 'failed')
    expect((await get(`${url}?again=same`)).text).toMatch(/Pay from <strong[^>]*>024 ••• 5003</)
    await payFromFile(url, { number: '2' }) // of a page that was open before
    expect(await instruments(url)).toEqual(['+233244555003', '+233244987002'])
  })

  test('of the last try is offered again', async () => {
    const url = await newCheckout()
    await payFromFile(url, { on_file: '', 'mtn_mobile_money.phone': '0244987003' })
    await until(url, 'failed')
    const { text } = await get(`${url}?again=same`)
    expectMasked(text, 'again')
    expect(text).toContain('name="on_file" value="1"')
    await payFromFile(url, { number: '2', on_file: '1' })
    expect(await instruments(url)).toEqual(['+233244987003', '+233244987003'])
  })

  test('can be used with any network: numbers are ported between them', async () => {
    const url = await newCheckout(customer())
    const { text } = await get(url)
    expect(text.match(/Pay from <strong/g)).toHaveLength(3)
    await submit(`${url}/pay`, { number: '1', on_file: 'request', payment_method: 'airteltigo_money' })
    expect(await instruments(url)).toEqual(['+233244987456'])
  })

  for (const on_file of ['', '1', '2', '-1', '01', 'number', '__proto__', 'x'.repeat(100)])
    test(`is never an unknown one (${on_file.slice(0, 10)})`, async () => {
      const url = await newCheckout(customer())
      const { http, text } = await payFromFile(url, { on_file })
      expect(http).toBe(422)
      expect(text).toContain('Your mobile money number: please fill this in.')
      expectMasked(text, 'refused')
      expect(await instruments(url)).toEqual([])
    })

  test('is never a card or a number of another country', async () => {
    const abroad = await newCheckout({ number: '+447911123456' })
    expect((await get(abroad)).text).not.toContain('Pay from <strong')
    const { http, text } = await payFromFile(abroad)
    expect([http, text.includes('please fill this in')]).toEqual([422, true])
  })

  test('is not offered after "Wrong number?"', () => {
    const view = viewOf(scenes.chooseGivenUp)
    expect(stagePage(view).toString()).not.toContain('Pay from <strong')
  })
})

test('a page of an older version, with the number filled in, still pays', async () => {
  const url = await newCheckout(customer())
  await submit(`${url}/pay`, {
    number: '1',
    payment_method: 'mtn_mobile_money',
    'mtn_mobile_money.phone': '0244987456',
  })
  expect(await instruments(url)).toEqual(['+233244987456'])
})
