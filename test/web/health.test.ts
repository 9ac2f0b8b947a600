import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { checkStatus, post, send, signedRequest } from '../support/merchant/merchant.ts'
import { asOperator } from '../support/gateway/operatorAuth.ts'

let gateway: TestGateway
let guarded: TestGateway

beforeAll(async () => {
  gateway = await testGateway()
  guarded = await testGateway({ TOLLGATE_METRICS_TOKEN: 'a-token-of-enough-letters' })
})
afterAll(async () => {
  await gateway.stop()
  await guarded.stop()
})

test('healthz and readyz say that all is well', async () => {
  expect(await send(`${gateway.url}/healthz`)).toMatchObject({ http: 200, text: 'ok' })
  expect(await send(`${gateway.url}/readyz`)).toMatchObject({ http: 200, text: 'ready' })
})

test('metrics tell requests, latencies, refusals, batches, pool and queues', async () => {
  const shop = await gateway.addMerchant()
  const request = signedRequest(shop.test)
  await post(gateway.url, request)
  await post(gateway.url, { ...request, total: '' })
  await checkStatus(gateway.url, { merchant_key: shop.test.merchant_key, invoice_id: request.invoice_id })
  const { text } = await send(`${gateway.url}/metrics`, { headers: asOperator })
  for (const line of [
    'tollgate_http_requests_total{route="/v1/mobile_agents_v2",method="POST",status="200"} 1',
    'tollgate_http_request_seconds_count{route="/v1/gateway/json_status_chk"} 1',
    'tollgate_refusals_total{code="GW-003"} 1',
    'tollgate_batch_rows_count{kind="initiation"} 1',
    'tollgate_batch_rows_count{kind="status"} 1',
    'tollgate_pool_connections{state="waiting"} 0',
    'tollgate_queue_depth{queue="initiation"} 0',
  ])
    expect(text).toContain(line)
})

test('metrics are for who has a token', async () => {
  expect((await send(`${gateway.url}/metrics`)).http).toBe(403)
  expect((await send(`${guarded.url}/metrics`)).http).toBe(403)
  const authorization = 'Bearer a-token-of-enough-letters'
  expect((await send(`${guarded.url}/metrics`, { headers: { authorization } })).http).toBe(200)
})

test('every request leaves one line with its id, its route and its outcome', async () => {
  const answer = await checkStatus(gateway.url, { merchant_key: 'tk_nobody', invoice_id: 'none' })
  const lines = gateway.logs.map(line => JSON.parse(line))
  const [line, ...more] = lines.filter(({ request_id }) => request_id === answer.headers.get('x-request-id'))
  expect(more).toEqual([])
  expect(line).toMatchObject({
    method: 'GET',
    route: '/v1/gateway/json_status_chk',
    status: 404,
    code: 'GW-005',
  })
  expect(JSON.stringify(line)).not.toContain('nobody')
})
