import assert from 'node:assert/strict'
import { afterAll, beforeAll, beforeEach, onTestFinished, test } from 'vitest'
import { initiate } from '../../src/actions/interface/initiate.ts'
import type { Credentials } from '../../src/actions/merchants/onboard.ts'
import { Unavailable } from '../../src/core/interface/refusal.ts'
import { openDb } from '../../src/store/db.ts'
import { type BehindProxy, gatewayBehindProxy } from '../support/gateway/behindProxy.ts'
import { type Answer, checkStatus, post, send, signedRequest } from '../support/merchant/merchant.ts'
import { asOperator } from '../support/gateway/operatorAuth.ts'
import { testRuntime } from '../support/gateway/runtime.ts'

let house: BehindProxy
let shop: Credentials
let url: string

beforeAll(async () => {
  house = await gatewayBehindProxy()
  shop = await house.register(house.db)
  url = house.gateway.url
})
beforeEach(() => void (house.proxy.onStatement = () => undefined))
afterAll(() => house.stop())

const now = () => new Date()
const requests = (n: number) => Array.from({ length: n }, () => signedRequest(shop))
const httpOf = (answers: Answer[]) => [...new Set(answers.map(answer => answer.http))]

// Far more than fit into the statements under way: the others do not wait for one vain try after another.
test('out of reach: 503 with Retry-After for all; when it is back, the same requests are stored once', async () => {
  const all = requests(400)
  const { merchant_key } = shop
  await post(url, signedRequest(shop)) // now the merchant is known
  await house.proxy.goDown()
  const refused = await Promise.all([
    ...all.map(one => post(url, one)),
    ...all.map(({ invoice_id }) => checkStatus(url, { merchant_key, invoice_id })),
  ])
  await house.proxy.comeUp()
  for (const { http, headers, body } of refused) {
    assert.deepEqual([http, body.error.code], [503, 'GW-050'])
    assert.match(headers.get('retry-after') ?? '', /^\d+$/)
  }
  const answers = await Promise.all(all.map(one => post(url, one)))
  assert.deepEqual(httpOf(answers), [200])
  assert.deepEqual(
    await house.stored(all),
    answers.map(answer => [answer.body.tx_reference]),
  )
})

test('out of reach: a customer gets a page in words, and the same page when it is back', async () => {
  const { checkout_url } = (await post(url, signedRequest(shop))).body
  await house.proxy.goDown()
  const [page, ready] = await Promise.all([send(checkout_url), send(`${url}/readyz`)])
  await house.proxy.comeUp()
  assert.deepEqual([page.http, ready.http], [503, 503])
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
  assert.match(page.headers.get('retry-after') ?? '', /^\d+$/)
  assert.match(page.text, /Your payment is safe/)
  assert.equal((await send(checkout_url)).http, 200)
})

test('out of reach: the metrics of a whole gateway answer, and say so', async () => {
  await post(url, signedRequest(shop))
  await house.proxy.goDown()
  await send(`${url}/readyz`)
  const { http, text } = await send(`${url}/metrics`, { headers: asOperator })
  await house.proxy.comeUp()
  assert.equal(http, 200)
  for (const line of [
    /^tollgate_http_requests_total\{.*\} [1-9]/m,
    /^tollgate_worker_seconds\{worker="\w+"\} /m,
    /^tollgate_build_info\{.*\} 1$/m,
  ])
    assert.match(text, line)
  assert.doesNotMatch(text, /^tollgate_tasks_open[ {]/m) // only the database knows
})

// Requests of both merchants share a statement, and so its failure.
test('out of reach: no merchant is told "200" because another one wishes errors as 200', async () => {
  const old = await house.register(house.db, 'errors_as_200=on')
  const both = Array.from({ length: 20 }, (_, n) => (n % 2 ? old : shop))
  for (const keys of [old, shop]) await post(url, signedRequest(keys))
  await house.proxy.goDown()
  const refused = await Promise.all(both.map(keys => post(url, signedRequest(keys))))
  await house.proxy.comeUp()
  assert.ok(refused.every(answer => answer.body.status_code === 503))
  assert.deepEqual(httpOf(refused.filter((_, n) => both[n] === shop)), [503])
})

// On a gateway of its own: requests that were refused before may still be stored, by a statement that looks the same.
test('stored, but gone before we heard: 503, and the same request finds what was stored', async () => {
  const own = await gatewayBehindProxy()
  onTestFinished(() => own.stop())
  const request = signedRequest(await own.register(own.db))
  let isGone = false
  own.proxy.onStatement = text => {
    if (isGone) return 'unsent'
    isGone = /^\s*insert into payments/.test(text)
    return isGone ? 'unheard' : undefined
  }
  assert.equal((await post(own.gateway.url, request)).http, 503)
  own.proxy.onStatement = () => undefined
  const [before] = await own.stored([request])
  assert.equal(before?.length, 1)
  const again = await post(own.gateway.url, request)
  assert.deepEqual([again.http, again.body.tx_reference], [200, before?.[0]])
  assert.deepEqual(await own.stored([request]), [before])
})

test('a database that hangs: as many requests wait as the queue holds, the rest are refused at once, none is lost', async () => {
  const bound = 5000
  const more = 1500
  const db = openDb(house.proxy.url, 10)
  const { masterKeys } = house.gateway
  const runtime = testRuntime({ db, masterKeys, clock: now })
  const all = requests(bound + more)
  await initiate(runtime, signedRequest(shop), 'api', '192.0.2.1') // now the merchant is known
  house.proxy.hold()
  let refused = 0
  const answers = all.map(one =>
    initiate(runtime, one, 'api', '192.0.2.1').catch((error: unknown) => {
      assert.ok(error instanceof Unavailable)
      refused++
    }),
  )
  await new Promise(done => setImmediate(done))
  assert.equal(refused, more)
  assert.ok(runtime.payments.depth() <= bound)
  house.proxy.release()
  const references = (await Promise.all(answers)).map(answer => (answer ? [answer.stored.tx_reference] : []))
  assert.equal(refused, more)
  assert.deepEqual(await house.stored(all), references)
  await db.end()
})
