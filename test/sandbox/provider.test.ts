import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  chargeBody,
  getPage,
  key,
  pollCharge,
  newReference,
  openTestSandbox,
  timeScale,
  postCharge,
  postForm,
  type TestSandbox,
  createdCharge,
  waitForStatus,
} from './context.ts'

let site: TestSandbox
let slow: TestSandbox // in real time, so that a slow machine does not miss a state
beforeAll(async () => {
  ;[site, slow] = await Promise.all([openTestSandbox(), openTestSandbox(1)])
})
afterAll(() => Promise.all([site.stop(), slow.stop()]))

const countCharges = async () => Number((await site.sql('select count(*) as n from sandbox_charges'))[0].n)

describe('an invalid request stores nothing', () => {
  for (const bearer of ['', 'another-key', `${key}x`]) {
    test(`401 with ${bearer || 'no'} key`, async () => {
      const before = await countCharges()
      const response = await postCharge(site, chargeBody(site), newReference(), bearer)
      expect(response.status).toBe(401)
      expect((await fetch(`${site.url}/sandbox/provider/charges/m0m0m0m0m0a`)).status).toBe(401)
      expect(await countCharges()).toBe(before)
    })
  }

  for (const [what, field, changes] of [
    ['no amount', 'amount', { amount: undefined }],
    ['a number for an amount', 'amount', { amount: 25 }],
    ['nothing to pay', 'amount', { amount: '0.00' }],
    ['a thousandth', 'amount', { amount: '1.001' }],
    ['less than nothing', 'amount', { amount: '-1.00' }],
    ['half a shilling', 'amount', { amount: '5000.50', currency: 'UGX', method: 'card' }],
    ['a strange currency', 'currency', { currency: 'XAU' }],
    ['a wallet in dollars', 'currency', { currency: 'USD' }],
    ['a strange method', 'method', { method: 'cash' }],
    ['no payer', 'payer', { payer: undefined }],
    ['a payer in words', 'payer', { payer: 'Ama' }],
    ['a payer with a plus', 'payer', { payer: '+233241234567' }],
    ['telecel without a voucher', 'voucher', { method: 'telecel' }],
    ['no payee', 'payee', { payee: '' }],
    ['a payee without an end', 'payee', { payee: 'a'.repeat(201) }],
    ['a NUL in the note', 'note', { note: 'a\0b' }],
    ['a way back that is a script', 'return_url', { return_url: 'javascript:alert(1)' }],
    ['a callback into a file', 'callback_url', { callback_url: 'file:///etc/passwd' }],
  ] as const) {
    test(`400 for ${what}`, async () => {
      const before = await countCharges()
      const response = await postCharge(site, chargeBody(site, changes))
      expect(response.status).toBe(400)
      expect(await response.json()).toEqual({ code: 'INVALID_REQUEST', field })
      expect(await countCharges()).toBe(before)
    })
  }

  for (const reference of ['', 'short', 'm0m0m0m0m0/../../x', `m0m0m0m0m0${'a'.repeat(91)}`]) {
    test(`400 for the reference ${reference.slice(0, 20) || 'that is missing'}`, async () => {
      const response = await postCharge(site, chargeBody(site), reference)
      expect(await response.json()).toEqual({ code: 'INVALID_REQUEST', field: 'x-reference-id' })
    })
  }

  for (const [what, body, http] of [
    ['no JSON', 'amount=25', 400],
    ['a list', '[]', 400],
    ['nothing', '', 400],
    ['more than anyone would send', JSON.stringify({ note: 'a'.repeat(20_000) }), 413],
  ] as const) {
    test(`${http} for ${what}`, async () => {
      const headers = { authorization: `Bearer ${key}`, 'x-reference-id': newReference() }
      const response = await fetch(`${site.url}/sandbox/provider/charges`, {
        method: 'POST',
        headers,
        body,
      })
      expect(response.status).toBe(http)
    })
  }

  for (const reference of ['m0m0m0m0m0nobody', 'x', 'a'.repeat(200)]) {
    test(`404 for the unknown reference ${reference.slice(0, 20)}`, async () => {
      expect(await pollCharge(site, reference)).toEqual({
        http: 404,
        body: { code: 'RESOURCE_NOT_FOUND' },
      })
    })
  }
})

describe('errors after the charge was stored', () => {
  test('005: 500, then polls report it as paid, without a callback', async () => {
    const reference = newReference()
    const response = await postCharge(slow, chargeBody(slow, { payer: '233240000005' }), reference)
    expect(response.status).toBe(500)
    expect((await pollCharge(slow, reference)).body.status).toBe('PENDING')
    slow.skip(2000)
    expect((await pollCharge(slow, reference)).body).toMatchObject({ status: 'SUCCESSFUL', amount: '25.00' })
    expect(await slow.callbacksFor(reference, 0)).toEqual([])
  })

  test('0.01: stored at once, no answer for long, then expired', async () => {
    const reference = newReference()
    const started = performance.now()
    const response = postCharge(site, chargeBody(site, { amount: '0.01' }), reference)
    await expect.poll(async () => (await pollCharge(site, reference)).http).toBe(200)
    expect((await response).status).toBe(202)
    expect(performance.now() - started).toBeGreaterThan(15_000 * timeScale - 5)
    expect(await waitForStatus(site, reference, 'FAILED')).toMatchObject({ reason: 'EXPIRED' })
  })

  test('0.02: the connection is cut, polls fail, then failed', async () => {
    const reference = newReference()
    await expect(postCharge(slow, chargeBody(slow, { amount: '0.02' }), reference)).rejects.toThrow()
    expect(await pollCharge(slow, reference)).toMatchObject({ http: 503 })
    slow.skip(8000)
    expect((await pollCharge(slow, reference)).body).toMatchObject({
      status: 'FAILED',
      reason: 'NETWORK_ERROR',
    })
    expect(slow.logs).toEqual([])
  })
})

describe('one charge for one reference', () => {
  test('a repeated request, even with other details, is 409 and changes nothing', async () => {
    const reference = newReference()
    expect((await postCharge(site, chargeBody(site), reference)).status).toBe(202)
    const again = await postCharge(site, chargeBody(site, { amount: '99.00' }), reference)
    expect(again.status).toBe(409)
    expect(await again.json()).toEqual({ code: 'RESOURCE_ALREADY_EXIST' })
    expect((await pollCharge(site, reference)).body.amount).toBe('25.00')
  })

  test('of twenty requests at the same time, one creates the charge, with one callback', async () => {
    const reference = newReference()
    const body = chargeBody(site, { payer: '233240000000' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => postCharge(site, body, reference)))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19)
    expect(await site.callbacksFor(reference, 1)).toEqual(['SUCCESSFUL'])
  })

  test('a repeated request for a card or a QR code repeats where the customer continues', async () => {
    for (const [method, path] of [
      ['card', (reference: string) => ({ redirectPath: `/sandbox/card/${reference}` })],
      ['ghqr', (reference: string) => ({ qrPath: `/sandbox/phone/${reference}` })],
    ] as const) {
      const reference = newReference()
      const body = chargeBody(site, { method, payer: undefined })
      expect(await (await postCharge(site, body, reference)).json()).toEqual(path(reference))
      expect(await (await postCharge(site, body, reference)).json()).toMatchObject(path(reference))
      expect((await pollCharge(site, reference)).body).toMatchObject({
        status: 'PENDING',
        ...path(reference),
      })
    }
  })
})

describe('callbacks', () => {
  for (const [last, statuses] of [
    ['003', ['FAILED']],
    ['004', ['FAILED']],
    ['006', []],
    ['007', ['FAILED', 'SUCCESSFUL']],
    ['009', ['SUCCESSFUL']],
  ] as const) {
    test(`${last}: ${statuses.join(', ') || 'none'}`, async () => {
      const reference = await createdCharge(site, { payer: `233240000${last}` })
      await waitForStatus(site, reference, statuses.at(-1) ?? 'SUCCESSFUL')
      expect(await site.callbacksFor(reference, statuses.length)).toEqual(statuses)
    })
  }

  test('008: five, the last with an old state', async () => {
    const statuses = await slow.callbacksFor(await createdCharge(slow, { payer: '233240000008' }), 5)
    expect(statuses).toEqual(['SUCCESSFUL', 'SUCCESSFUL', 'SUCCESSFUL', 'SUCCESSFUL', 'PENDING'])
  })

  test('have the format of the answer to a poll', async () => {
    const reference = await createdCharge(site, { payer: '233240000000' })
    const body = await waitForStatus(site, reference, 'SUCCESSFUL')
    await site.callbacksFor(reference, 1)
    const heard = site.callbacks.find(call => call.body.externalId === reference)
    expect(heard).toEqual({ body, type: 'application/json' })
  })

  test('a gateway that is down, and one that never answers, delay no other callback', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const callback_url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/callback`
    const payer = '233240000000'
    await waitForStatus(site, await createdCharge(site, { payer, callback_url }), 'SUCCESSFUL')
    silent.close()
    await waitForStatus(site, await createdCharge(site, { payer, callback_url }), 'SUCCESSFUL')
    await sleep(50)
    expect(site.logs).toEqual([])
  })
})

async function withdraw(reference: string, bearer = key, from = site) {
  const headers = { authorization: `Bearer ${bearer}` }
  const url = `${from.url}/sandbox/provider/charges/${reference}/withdraw`
  const response = await fetch(url, { method: 'POST', headers })
  return { http: response.status, body: (await response.json()) as any }
}

describe('withdrawing', () => {
  test('needs the key and an existing charge', async () => {
    const reference = await createdCharge(site)
    expect((await withdraw(reference, 'another-key')).http).toBe(401)
    expect(await withdraw('m0m0m0m0m0nobody')).toEqual({ http: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
    expect((await pollCharge(site, reference)).body.status).toBe('PENDING')
  })

  test('ends a waiting charge, can be repeated, and causes one callback', async () => {
    const reference = await createdCharge(site)
    for (let times = 0; times < 3; times++)
      expect(await withdraw(reference)).toMatchObject({
        http: 200,
        body: { status: 'FAILED', reason: 'WITHDRAWN' },
      })
    expect(await site.callbacksFor(reference, 1)).toEqual(['FAILED'])
    await postForm(site, `/sandbox/phone/${reference}`, { decision: 'approve' })
    expect((await pollCharge(site, reference)).body.status).toBe('FAILED')
    expect((await getPage(site, `/sandbox/phone/${reference}`)).html).toContain('<h1>Withdrawn</h1>')
  })

  test('does not change an approved charge', async () => {
    const reference = await createdCharge(site)
    await postForm(site, `/sandbox/phone/${reference}`, { decision: 'approve' })
    expect((await withdraw(reference)).body.status).toBe('SUCCESSFUL')
  })

  test('does not change a wallet that answers automatically', async () => {
    const reference = await createdCharge(slow, { payer: '233240000006' })
    expect((await withdraw(reference, key, slow)).body).toMatchObject({ status: 'PENDING' })
    slow.skip(20_000)
    expect((await pollCharge(slow, reference)).body.status).toBe('SUCCESSFUL')
  })

  test('at the same time as an approval: one wins, and all answers agree', async () => {
    for (let times = 0; times < 20; times++) {
      const reference = await createdCharge(site)
      const [, withdrawn] = await Promise.all([
        postForm(site, `/sandbox/phone/${reference}`, { decision: 'approve' }),
        withdraw(reference),
      ])
      const { status } = (await pollCharge(site, reference)).body
      expect(['SUCCESSFUL', 'FAILED']).toContain(status)
      expect(withdrawn.body.status).toBe(status)
    }
  })

  test('a withdrawn card page accepts no card', async () => {
    const reference = await createdCharge(site, { method: 'card', payer: undefined })
    await withdraw(reference)
    const card = { number: '4111 1111 1111 1111', expiry: '09/40', cvv: '123' }
    expect((await postForm(site, `/sandbox/card/${reference}`, card)).to).toBe(`${site.url}/checkout/t`)
    expect((await pollCharge(site, reference)).body).toMatchObject({
      status: 'FAILED',
      reason: 'WITHDRAWN',
    })
  })
})

test('a restart loses callbacks but no state', async () => {
  const own = await openTestSandbox()
  const decided = await createdCharge(own)
  const waiting = await createdCharge(own)
  const byItself = await createdCharge(own, { payer: '233240000006' })
  await postForm(own, `/sandbox/phone/${decided}`, { decision: 'decline' })
  await own.restart()
  expect((await pollCharge(own, decided)).body).toMatchObject({
    status: 'FAILED',
    reason: 'APPROVAL_REJECTED',
  })
  expect((await pollCharge(own, waiting)).body.status).toBe('PENDING')
  await postForm(own, `/sandbox/phone/${waiting}`, { decision: 'approve' })
  expect((await pollCharge(own, waiting)).body.status).toBe('SUCCESSFUL')
  await waitForStatus(own, byItself, 'SUCCESSFUL')
  await own.stop()
})
