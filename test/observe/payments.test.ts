import { afterAll, beforeAll, expect, test } from 'vitest'
import { workerNames } from '../../src/runtime/heartbeats.ts'
import { sql } from '../../src/store/db.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { asOperator } from '../support/gateway/operatorAuth.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'

let gateway: TestGateway
let merchant: TestMerchant
beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_REDACT_DAYS: '400' })
  merchant = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

const ask = async () => (await post(gateway.url, signedRequest(merchant.test))).body
const lines = async () => (await send(`${gateway.url}/metrics`, { headers: asOperator })).text.split('\n')
const counted = (status: string, count: number, mode = 'test') =>
  `tollgate_payments_total{status="${status}",payment_method="none",mode="${mode}"} ${count}`

test('payments are counted by status: at 0 from the start, once for each change, also without an attempt', async () => {
  expect(await lines()).toEqual(
    expect.arrayContaining([
      counted('cancelled', 0),
      counted('paid', 0, 'live'),
      counted('awaiting_payment', 0),
    ]),
  )
  const cancelled = await ask()
  const expired = await ask()
  await post(gateway.url, signedRequest(merchant.test, { invoice_id: expired.invoice_id }))
  await send(`${cancelled.checkout_url}/cancel`, { method: 'POST', body: new URLSearchParams() })
  await gateway.db.rows(sql`
    update payments set expires_at = now() where tx_reference = ${expired.tx_reference}`)
  await expect.poll(lines).toContain(counted('failed', 1))
  expect(await lines()).toContain(counted('cancelled', 1))
})

test('counters exist at 0 before they are counted, so that their first increase is one', async () => {
  const text = await lines()
  for (const line of [
    'tollgate_refusals_total{code="GW-001"} 0',
    'tollgate_refusals_total{code="GW-060"} 0',
    'tollgate_attempts_total{payment_method="mtn_mobile_money",state="failed"} 0',
    'tollgate_refunds_total{provider_account="sandbox",state="needs_action"} 0',
    'tollgate_provider_calls_total{account="sandbox",payment_method="mtn_mobile_money",verb="ask_refund",outcome="put_off"} 0',
    'tollgate_provider_unknown_codes_total{account="sandbox",payment_method="mtn_mobile_money"} 0',
    'tollgate_http_requests_total{route="/metrics",method="GET",status="503"} 0',
  ])
    expect(text).toContain(line)
  const counters = text.flatMap(line => /^# TYPE (tollgate_\w+) counter$/.exec(line)?.[1] ?? [])
  expect(counters.length).toBeGreaterThan(15)
  expect(counters.filter(name => !text.some(line => new RegExp(`^${name}[{ ]`).test(line)))).toEqual([])
})

test('the version, the nodes, the workers, the backlogs and the database have values', async () => {
  const text = await lines()
  expect(text.filter(line => line.startsWith('tollgate_build_info{version='))).toHaveLength(1)
  for (const worker of workerNames)
    expect(text.find(line => line.startsWith(`tollgate_worker_seconds{worker="${worker}"} `))).toMatch(
      / [0-5](\.\d+)?$/,
    )
  for (const line of [
    ...['gone', 'silent', 'lacks_key', 'paused', 'clock_off', 'older_schema', 'unlisted'].map(
      state => `tollgate_nodes{state="${state}"} 0`,
    ),
    'tollgate_attempts_unresolved 0',
    'tollgate_attempt_oldest_unresolved_seconds 0',
    'tollgate_backlog{of="expiry"} 0',
    'tollgate_backlog{of="redaction"} 0',
    'tollgate_database_work_failed_total{kind="requests"} 0',
  ])
    expect(text).toContain(line)
  expect(
    text.find(line => line.startsWith('tollgate_database_work_seconds_total{kind="requests"} ')),
  ).not.toMatch(/ 0$/)
})
