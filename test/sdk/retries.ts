import { expect, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { newInvoice } from '../support/merchant/merchant.ts'
import type { ClientOptions } from './programs.ts'
import { client, faulty, gateway, resultOf, run } from './world.ts'

const busy = {
  http: 503,
  body: '{"success":false,"status_code":503,"message":"m","error":{"code":"GW-050"}}',
}
const order = () => ({ invoice_id: newInvoice(), total: '25.00' })
const viaFaulty = (op: string, arg: unknown, more: ClientOptions = {}) =>
  run(op, { ...client, base_url: faulty.url, ...more }, arg)

export function testRetries() {
  test('a lost answer, a 503, a 429, a page of a proxy: the same bytes are sent again', async () => {
    const slow = { ...busy, http: 429, headers: { 'retry-after': '1' } }
    const from = performance.now()
    faulty.begin('lost', busy, slow)
    const asked = order()
    const { result } = await viaFaulty('initiate', asked)
    expect(performance.now() - from).toBeGreaterThan(1000)
    expect(faulty.bodies).toHaveLength(4)
    expect(new Set(faulty.bodies).size).toBe(1)
    expect(await resultOf('initiate', asked)).toEqual(result)
    faulty.begin({ http: 502, body: '<html>Bad Gateway</html>' })
    expect((await viaFaulty('status', asked.invoice_id)).result).toMatchObject({ status: 'awaiting_payment' })
  })

  test('a timeout is not a failure: the outcome is unknown, and calling again finds the payment', async () => {
    faulty.begin('lost', 'hang')
    const asked = order()
    const { error } = await viaFaulty('initiate', asked, { timeout: 0.3, tries: 2 })
    expect(error).toMatchObject({ class: 'OutcomeUnknownError', code: 'outcome_unknown' })
    expect(error?.message).toMatch(/may be stored or not.*initiate again with the same order/)
    const stored = await gateway.db.rows(sql`select 1 from payments where invoice_id = ${asked.invoice_id}`)
    expect(stored).toHaveLength(1)
    const again = await viaFaulty('initiate', asked)
    expect(again.result.invoice_id).toBe(asked.invoice_id)
  })

  test('nobody listens: the status is unknown', async () => {
    const { error } = await run('status', { ...client, base_url: 'http://127.0.0.1:1', tries: 2 }, 'A-1')
    expect(error).toMatchObject({ class: 'UnavailableError', code: 'gateway_unavailable', http_status: null })
  })

  test('a long Retry-After is passed on instead of waited for', async () => {
    faulty.begin({ ...busy, headers: { 'retry-after': '3600' } })
    const { error } = await viaFaulty('initiate', order())
    expect(error).toMatchObject({ class: 'OutcomeUnknownError', http_status: 503, retry_after: 3600 })
  })

  for (const [name, fault, code] of [
    ['an unknown page', { http: 404, body: '<html>' }, 'http_404'],
    ['a redirect, which is not followed', { http: 302, headers: { location: '/v1/events' } }, 'http_302'],
  ] as const)
    test(`${name} is not repeated`, async () => {
      faulty.begin(fault)
      const { error } = await viaFaulty('initiate', order())
      expect(error).toMatchObject({ class: 'RefusedError', code })
      expect(error?.message).toMatch(/Check base_?url/i)
      expect(faulty.bodies).toHaveLength(1)
    })

  test('what a proxy says after a lost answer does not make the outcome known', async () => {
    faulty.begin('lost', { http: 403, body: 'blocked' }, { http: 403, body: 'blocked' })
    const { error } = await viaFaulty('initiate', order(), { tries: 3 })
    expect(error).toMatchObject({ class: 'OutcomeUnknownError', http_status: 403 })
  })
}
