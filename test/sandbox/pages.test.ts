import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { testCards } from '../../src/sandbox/cards.ts'
import { getPage, pollCharge, openTestSandbox, postForm, type TestSandbox, createdCharge } from './context.ts'

let site: TestSandbox // in real time, so that a slow machine does not miss a state
beforeAll(async () => {
  site = await openTestSandbox(1)
})
afterAll(() => site.stop())

const byCard = (changes: object = {}) => createdCharge(site, { method: 'card', payer: undefined, ...changes })
const typed = { number: '4111 1111 1111 1111', expiry: '09/40', cvv: '123', name: 'Ama' }
const evil = '"><script>alert(1)</script><img src=x onerror=alert(2)>'

describe('unknown pages', () => {
  for (const path of [
    '/sandbox/phone/m0m0m0m0m0nobody',
    '/sandbox/phone/x',
    '/sandbox/card/m0m0m0m0m0nobody',
    '/sandbox/card/m0m0m0m0m0nobody/3ds',
    '/sandbox/public/sandbox.ts',
    '/sandbox/nothing',
  ]) {
    test(path, async () => {
      const { http, html } = await getPage(site, path)
      expect(http).toBe(404)
      expect(html).toContain('There is nothing to pay at this address')
    })
  }

  test('a wallet has no card page, and a card has no test phone', async () => {
    expect((await getPage(site, `/sandbox/card/${await createdCharge(site)}`)).http).toBe(404)
    expect((await getPage(site, `/sandbox/phone/${await byCard()}`)).http).toBe(404)
  })
})

describe('every page', () => {
  test('escapes the texts of the request', async () => {
    const phone = await createdCharge(site, { payee: evil, note: evil, payer: '233241111111' })
    const card = await byCard({ payee: evil, note: evil })
    await postForm(site, `/sandbox/card/${card}`, { ...typed, number: '4242424242424242' })
    const pages = [
      await getPage(site, `/sandbox/phone/${phone}`),
      await getPage(site, `/sandbox/phone?number=0241111111`),
      await getPage(site, `/sandbox/phone?number=${encodeURIComponent(evil)}`),
      await getPage(site, `/sandbox/card/${card}`),
      await getPage(site, `/sandbox/card/${card}/3ds`),
      await postForm(site, `/sandbox/card/${card}`, { expiry: evil, name: evil }),
    ]
    for (const { html } of pages) {
      expect(html).toContain('&lt;')
      expect(html).not.toMatch(/<script|<img/)
    }
  })

  test('has strict headers, a test banner and no script', async () => {
    const card = await byCard()
    for (const path of [
      '/sandbox/phone',
      `/sandbox/phone/${await createdCharge(site)}`,
      `/sandbox/card/${card}`,
    ]) {
      const { headers, html } = await getPage(site, path)
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'self'; .*form-action 'self'/,
      )
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(html).toContain('Simulated provider: no real money moves')
      expect(html.match(/<h1/g)).toHaveLength(1)
      expect(html).not.toContain('script')
    }
  })

  test('of the phone may be framed by this gateway only, any other page by none', async () => {
    const path = `/sandbox/phone/${await createdCharge(site)}`
    for (const [page, ancestors, framing] of [
      [path, "'self'", 'SAMEORIGIN'],
      [`/sandbox/card/${await byCard()}`, "'none'", 'DENY'],
      ['/sandbox/phone', "'none'", 'DENY'],
    ] as const) {
      const { headers } = await getPage(site, page)
      expect(headers.get('content-security-policy')).toContain(`frame-ancestors ${ancestors}`)
      expect(headers.get('x-frame-options')).toBe(framing)
    }
  })

  test('in a frame has no header and no links, and stays in the frame after the answer', async () => {
    const path = `/sandbox/phone/${await createdCharge(site)}?lang=fr&framed=1`
    const { html } = await getPage(site, path)
    expect(html).not.toMatch(/<header|<a /)
    expect(html).toContain(`action="${path.replace('&', '&amp;')}"`)
    expect(await postForm(site, path, { decision: 'approve' })).toMatchObject({ http: 303, to: path })
    expect((await getPage(site, path)).html).not.toMatch(/<header|<a /)
  })

  test('refuses a form that is too large', async () => {
    const form = { ...typed, name: 'a'.repeat(5000) }
    expect((await postForm(site, `/sandbox/card/${await byCard()}`, form)).http).toBe(413)
  })
})

describe('the test phone', () => {
  for (const decision of ['', 'constructor', 'person_approved']) {
    test(`decides nothing on "${decision}"`, async () => {
      const reference = await createdCharge(site)
      expect((await postForm(site, `/sandbox/phone/${reference}`, { decision })).http).toBe(303)
      expect((await pollCharge(site, reference)).body.status).toBe('PENDING')
    })
  }

  test('asks for a PIN, and takes any', async () => {
    const reference = await createdCharge(site)
    const path = `/sandbox/phone/${reference}`
    const refused = await postForm(site, path, { decision: 'approve', asks_pin: '1', pin: ' ' })
    expect(refused).toMatchObject({
      http: 422,
      html: expect.stringContaining('Type a PIN. Any digits will do.'),
    })
    expect((await pollCharge(site, reference)).body.status).toBe('PENDING')
    const taken = await postForm(site, path, { decision: 'approve', asks_pin: '1', pin: '7391' })
    expect(taken).toMatchObject({ http: 303, to: path })
    const { body } = await pollCharge(site, reference)
    expect(body.status).toBe('SUCCESSFUL')
    const { html } = await getPage(site, path)
    expect(html).toContain(`Transaction ${body.financialTransactionId}.`)
    expect(html).not.toContain('7391')
  })

  test('does not overrule a number that answers automatically', async () => {
    const reference = await createdCharge(site, { payer: '233240000004' })
    await postForm(site, `/sandbox/phone/${reference}`, { decision: 'approve' })
    expect((await pollCharge(site, reference)).body.status).toBe('PENDING')
    expect((await getPage(site, `/sandbox/phone/${reference}`)).html).toContain('answers by itself')
  })

  test('decides once, even if two buttons are pressed at the same time', async () => {
    for (let round = 0; round < 10; round++) {
      const reference = await createdCharge(site)
      const path = `/sandbox/phone/${reference}`
      await Promise.all(['approve', 'decline', 'approve'].map(decision => postForm(site, path, { decision })))
      const first = (await pollCharge(site, reference)).body
      expect(first.status).not.toBe('PENDING')
      await postForm(site, path, { decision: first.status === 'FAILED' ? 'approve' : 'decline' })
      expect((await pollCharge(site, reference)).body).toEqual(first)
      expect(await site.callbacksFor(reference, 1)).toEqual([first.status])
    }
  })

  for (const [decision, title, said] of [
    ['decline', 'Declined', { status: 'FAILED', reason: 'APPROVAL_REJECTED' }],
    ['approve', 'Approved', { status: 'SUCCESSFUL', amount: '25.00' }],
  ] as const) {
    test(`${decision}: ${title}, with a link back`, async () => {
      const reference = await createdCharge(site, { method: 'ghqr', payer: undefined })
      const path = `/sandbox/phone/${reference}`
      const { html } = await getPage(site, path)
      expect(html).toContain('Ama Shop asks for GHS 25.00')
      expect(html).not.toContain('/checkout/t')
      expect(await postForm(site, path, { decision })).toMatchObject({ http: 303, to: path })
      const after = (await getPage(site, path)).html
      expect(after).toContain(`<h1>${title}</h1>`)
      expect(after).toContain(`href="${site.url}/checkout/t"`)
      expect((await pollCharge(site, reference)).body).toMatchObject(said)
    })
  }

  test('a decision after the expiry changes nothing', async () => {
    const reference = await createdCharge(site)
    site.skip(5 * 60_000)
    await postForm(site, `/sandbox/phone/${reference}`, { decision: 'approve' })
    expect((await getPage(site, `/sandbox/phone/${reference}`)).html).toContain('<h1>Too late</h1>')
    expect((await pollCharge(site, reference)).body).toMatchObject({ status: 'FAILED', reason: 'EXPIRED' })
  })

  test('lists only the prompts that wait for the number', async () => {
    const waiting = await createdCharge(site, { payer: '233242222222' })
    const done = await createdCharge(site, { payer: '233242222222' })
    await postForm(site, `/sandbox/phone/${done}`, { decision: 'decline' })
    const { html } = await getPage(site, '/sandbox/phone?number=024+222+2222')
    expect([...html.matchAll(/href="\/sandbox\/phone\/([^"]+)"/g)].map(match => match[1])).toEqual([waiting])
    expect((await getPage(site, '/sandbox/phone?number=0243333333')).html).toContain('Nothing waits')
    expect((await getPage(site, '/sandbox/phone?number=hello')).http).toBe(422)
  })
})

test('on a gateway for this machine only, the phone lists the prompts of all numbers', async () => {
  const local = await openTestSandbox(1, true)
  onTestFinished(() => local.stop())
  expect((await getPage(local, '/sandbox/phone')).html).toContain('Nothing waits for an answer')
  const first = await createdCharge(local, { payer: '233241111111' })
  const newest = await createdCharge(local, { payer: '233202222222', method: 'telecel', voucher: '123456' })
  await createdCharge(local, { payer: '233240000000' }) // answers by itself
  const { html } = await getPage(local, '/sandbox/phone')
  expect([...html.matchAll(/href="\/sandbox\/phone\/([^"]+)"/g)].map(match => match[1])).toEqual([
    newest,
    first,
  ])
  expect(html).toContain(`action="/sandbox/phone/${newest}"`) // the phone shows the newest
  expect(html).toContain('href="/inbox"')
  expect((await getPage(site, '/sandbox/phone')).html).not.toMatch(/href="\/(inbox|support)"/)
})

describe('the card page', () => {
  test('shows each fault at its field, and the charge stays open', async () => {
    const reference = await byCard()
    const { http, html } = await postForm(site, `/sandbox/card/${reference}`, {
      ...typed,
      number: '4111',
      cvv: '',
    })
    expect(http).toBe(422)
    expect(html).toContain('role="alert"')
    expect(html).toMatch(/id="number"[^>]*aria-invalid="true" aria-describedby="number-error"/)
    expect(html).toContain('id="cvv-error"')
    expect(html).not.toContain('id="expiry-error"')
    expect(html).not.toContain('"4111"') // a card number is not echoed
    expect((await pollCharge(site, reference)).body.status).toBe('PENDING')
  })

  for (const [number, cvv, responseCode, responseMessage] of [
    ['4000000000000002', '123', '05', 'Do not honour'],
    ['5105105105105100', '123', '51', 'Insufficient funds'],
    ['4000000000000069', '123', '54', 'Expired card'],
    ['4000000000000127', '123', '82', 'Wrong CVV'],
    ['4111111111111111', '999', '82', 'Wrong CVV'],
    ['4242424242424242', '999', '82', 'Wrong CVV'],
  ] as const) {
    test(`${number} with CVV ${cvv}: ${responseCode}, and back to the checkout`, async () => {
      const reference = await byCard()
      const answer = await postForm(site, `/sandbox/card/${reference}`, { ...typed, number, cvv })
      expect(answer).toMatchObject({ http: 303, to: `${site.url}/checkout/t` })
      const { body } = await pollCharge(site, reference)
      expect(body).toMatchObject({ status: 'FAILED', reason: 'CARD_REFUSED' })
      expect(body.card).toMatchObject({ last4: number.slice(-4), responseCode, responseMessage })
    })
  }

  test('119: 96 for a while, then paid', async () => {
    const reference = await byCard()
    await postForm(site, `/sandbox/card/${reference}`, { ...typed, number: '4000000000000119' })
    expect(await pollCharge(site, reference)).toEqual({ http: 500, body: { code: '96' } })
    site.skip(3000)
    expect((await pollCharge(site, reference)).body).toMatchObject({
      status: 'SUCCESSFUL',
      card: { responseCode: '00' },
    })
  })

  test('4242: nothing without the code, 000000 fails, any other passes', async () => {
    for (const [code, said] of [
      ['000000', { status: 'FAILED', card: { responseCode: '1A' } }],
      ['1', { status: 'SUCCESSFUL', card: { responseCode: '00', type: 'Visa', last4: '4242' } }],
    ] as const) {
      const reference = await byCard()
      const secure = `/sandbox/card/${reference}/3ds`
      expect(await getPage(site, secure)).toMatchObject({ http: 303 }) // no card was submitted yet
      expect(await postForm(site, secure, { code: '1' })).toMatchObject({
        to: `/sandbox/card/${reference}`,
      })
      const answer = await postForm(site, `/sandbox/card/${reference}`, {
        ...typed,
        number: '4242424242424242',
      })
      expect(answer).toMatchObject({ http: 303, to: secure })
      expect((await getPage(site, secure)).html).toContain('Visa •••• 4242')
      expect((await postForm(site, secure, { code: '' })).http).toBe(422)
      expect((await pollCharge(site, reference)).body.status).toBe('PENDING')
      expect(await postForm(site, secure, { code })).toMatchObject({ to: `${site.url}/checkout/t` })
      expect((await pollCharge(site, reference)).body).toMatchObject(said)
    }
  })

  test('a card submitted after the expiry changes nothing', async () => {
    const reference = await byCard()
    site.skip(15 * 60_000)
    expect((await getPage(site, `/sandbox/card/${reference}`)).html).toContain('<h1>Too late</h1>')
    await postForm(site, `/sandbox/card/${reference}`, typed)
    expect((await pollCharge(site, reference)).body).toMatchObject({ status: 'FAILED', reason: 'EXPIRED' })
  })

  test('cancel ends the charge, and later requests change nothing', async () => {
    const reference = await byCard()
    const answer = await postForm(site, `/sandbox/card/${reference}/cancel`)
    expect(answer).toMatchObject({ http: 303, to: `${site.url}/checkout/t` })
    const again = await postForm(site, `/sandbox/card/${reference}`, typed)
    expect(again).toMatchObject({ http: 303, to: `${site.url}/checkout/t` })
    const { body } = await pollCharge(site, reference)
    expect(body).toMatchObject({ status: 'FAILED', reason: 'PAYER_CANCELLED' })
    expect(body.card).toBeUndefined()
    const over = await getPage(site, `/sandbox/card/${reference}`)
    expect(over.html).toContain('<h1>Not paid</h1>')
    expect(over.html).toContain(`href="${site.url}/checkout/t"`)
  })

  test('a paid card charge reports the card type and the last four digits, also in dollars', async () => {
    const reference = await byCard({ currency: 'USD' })
    await postForm(site, `/sandbox/card/${reference}`, { ...typed, number: '5555555555554444' })
    const { body } = await pollCharge(site, reference)
    expect(body).toMatchObject({ status: 'SUCCESSFUL', amount: '25.00', currency: 'USD' })
    expect(body.card).toMatchObject({ type: 'Mastercard', last4: '4444', responseCode: '00' })
  })
})

test('no card number and no CVV is stored or logged', async () => {
  for (const { number } of testCards)
    await postForm(site, `/sandbox/card/${await byCard()}`, { ...typed, number, cvv: '987', name: 'Kofi' })
  const rows = JSON.stringify(await site.sql('select * from sandbox_charges'), (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  const kept = `${rows} ${site.logs.join()} ${JSON.stringify(site.callbacks)}`
  for (const { number } of testCards) {
    expect(kept).not.toContain(number)
    expect(kept).not.toContain(number.replace(/(.{4})(?=.)/g, '$1 '))
  }
  expect(kept).not.toContain('"987"')
  expect(kept).not.toContain('Kofi')
  expect(site.logs).toEqual([])
})
