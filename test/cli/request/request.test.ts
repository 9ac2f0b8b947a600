import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RefusedRequest } from '../../../src/core/interface/refusedRequest.ts'
import { newRequestId } from '../../../src/runtime/ids.ts'
import { addRefusedCounts, addRefusedRequests } from '../../../src/store/requestLog.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, minutes, noon } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { tollgate, tollgateJson } from '../tollgate.ts'

let shop: TestShop
let merchant: TestMerchant
let requests: RefusedRequest[] // newest first

beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant()
  requests = Array.from({ length: 3 }, (_, at) => ({
    merchant_id: merchant.merchant_id,
    mode: at === 2 ? 'live' : 'test',
    request_id: newRequestId(),
    refused_at: after(-minutes(at)),
    method: 'POST',
    path: '/v1/mobile_agents_v2',
    http: 401,
    code: 'GW-010',
    field: 'secure_hash',
    message: 'secure_hash: does not match this request',
    hint: at === 0 ? { likely_mistake: 'secure_hash is not hexadecimal' } : null,
    fields: { invoice_id: `AMA-${at}`, number: '024 ••• 3456' },
  }))
  await addRefusedRequests(shop.db, requests)
  await addRefusedCounts(shop.db, [
    {
      merchant_id: merchant.merchant_id,
      mode: 'test',
      day: noon.toISOString().slice(0, 10),
      code: 'GW-010',
      refused: 207,
    },
  ])
})
afterAll(() => shop.stop())

const idAt = (at: number) => requests[at]?.request_id ?? ''

test('show prints the reason, the hint and the fields', async () => {
  const { code, stdout } = await tollgate(shop.env, 'request', 'show', idAt(0))
  expect(code).toBe(0)
  for (const words of [
    idAt(0),
    'Ama Shop',
    'POST /v1/mobile_agents_v2',
    'GW-010',
    'secure_hash: does not match this request',
    'secure_hash is not hexadecimal',
    'AMA-0',
    '024 ••• 3456',
  ])
    expect(stdout).toContain(words)
  const { refused_at: time, ...rest } = requests[0] as RefusedRequest
  expect((await tollgateJson(shop.env, 'request', 'show', idAt(0))).data).toEqual({
    ...rest,
    time: time.toISOString(),
    merchant_name: 'Ama Shop',
  })
})

test('list has the newest first, and says how many were not stored', async () => {
  const { code, stdout } = await tollgate(shop.env, 'request', 'list', '--merchant', merchant.merchant_id)
  expect(code).toBe(0)
  const places = requests.map(({ request_id }) => stdout.indexOf(request_id))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(places).not.toContain(-1)
  expect(stdout).toContain('7 more were refused and not stored')
})

for (const [what, args, found] of [
  ['a mode', ['--mode', 'live'], [2]],
  ['a limit', ['--limit', '1'], [0]],
  ['those before another', ['--before', 1], [2]],
] as [string, (string | number)[], number[]][])
  test(`list takes ${what}`, async () => {
    const given = args.map(arg => (typeof arg === 'number' ? idAt(arg) : arg))
    const { data } = await tollgateJson(
      shop.env,
      'request',
      'list',
      '--merchant',
      merchant.merchant_id,
      ...given,
    )
    expect(data.requests.map(({ request_id }: RefusedRequest) => request_id)).toEqual(found.map(idAt))
  })

test('a merchant without refused requests', async () => {
  const { merchant_id } = await shop.addMerchant('Kofi Shop')
  const { code, stdout } = await tollgate(shop.env, 'request', 'list', '--merchant', merchant_id)
  expect([code, stdout]).toEqual([0, 'No refused request is stored.\n'])
})

for (const [what, args, code, words] of [
  ['an unknown request', ['show', 'req_0000000000000000'], 1, /No refused request with the id/],
  ['no id', ['show', '%'], 1, /No refused request with the id/],
  ['an unknown merchant', ['list', '--merchant', 'nobody'], 1, /No merchant has the id nobody/],
  ['no merchant', ['list'], 2, /--merchant/],
] as [string, string[], number, RegExp][])
  test(`${what} fails with ${code}`, async () => {
    const ran = await tollgate(shop.env, 'request', ...args)
    expect(ran.code).toBe(code)
    expect(ran.stderr).toMatch(words)
  })
