import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { memoryStore } from '../../../sdk/node/src/index.ts'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { sql } from '../../../src/store/db.ts'
import { codeUnder } from '../../docs/blocks.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { isSigned } from '../../support/deliveries/recordingReceiver.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { sdkClient } from '../../support/merchant/sdkClient.ts'
import { openReceiver, type Receiver } from '../../support/merchant/receiver.ts'

let gateway: TestGateway
let shop: Receiver
let merchant: TestMerchant
let developer: DashboardClient
beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' })
  shop = await openReceiver()
})
afterAll(async () => {
  await gateway.stop()
  await shop.close()
})

// A merchant for each test: the limit is one of a merchant.
beforeEach(async () => {
  shop.received.length = 0
  shop.answerWith((_request, response) => void response.end('thanks'))
  merchant = await gateway.addMerchant(`ipn_url=${shop.url}/ipn`)
  developer = await member()
})

const member = (lang = 'en') =>
  signedIn(gateway, { lang, member: { merchant_id: merchant.merchant_id, role: 'developer' } })
const path = (mode = 'test') => `/dashboard/m/${merchant.merchant_id}/${mode}/developers`
const send = (client = developer, mode = 'test') =>
  client.submit(path(mode), `${path(mode)}/test-notification`)
const textOf = async (answer: Response) =>
  (await answer.text()).replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
const set = (...settings: string[]) => setMerchant(gateway.db, merchant.merchant_id, settings)
const documented = (): object => JSON.parse(codeUnder('docs/interface.md', 'Test notifications'))
const audits = () =>
  gateway.db.rows<{ subject: string; actor_id: string; after: unknown }>(sql`
    select subject, actor_id, after from audit_entries
    where merchant_id = ${merchant.merchant_id} and action = 'notification.test' order by entry_id`)

for (const mode of ['test', 'live'] as const)
  test(`a test notification of ${mode} mode is signed, marked, and about no payment`, async () => {
    const answer = await send(developer, mode)
    expect(answer.status).toBe(200)
    expect(await textOf(answer)).toMatch(
      /Your endpoint accepted the test notification: status 200 after \d+ ms\. The answer began with: thanks/,
    )
    const [sent, ...others] = shop.received
    expect(others).toEqual([])
    if (!sent) return
    expect(isSigned(sent, merchant[mode].ipn_secret)).toBe(true)
    expect(isSigned(sent, merchant[mode === 'test' ? 'live' : 'test'].ipn_secret)).toBe(false)
    const tx_reference = sent.id.replace(/-N1$/, '')
    expect(JSON.parse(sent.body)).toEqual({ ...documented(), tx_reference })
    const { merchant_key } = merchant[mode]
    const status = await fetch(
      `${gateway.url}/v1/gateway/json_status_chk?merchant_key=${merchant_key}&invoice_id=tollgate:test`,
    )
    expect(status.status).toBe(404)
    expect(await gateway.db.rows(sql`select from deliveries where tx_reference = ${tx_reference}`)).toEqual(
      [],
    )
    expect(await audits()).toEqual([{ subject: sent.id, actor_id: developer.user_id, after: { mode } }])
  })

test('the SDK acknowledges it, and calls nothing', async () => {
  const called: string[] = []
  const handle = async (body: string, headers: IncomingHttpHeaders, response: ServerResponse) => {
    const answer = await sdkClient(gateway, merchant).handleNotification({
      rawBody: body,
      headers,
      store: memoryStore(),
      findOrder: invoiceId => void called.push(invoiceId),
      onStatus: ({ status }) => void called.push(status),
      onError: error => void called.push(error.code),
    })
    response.statusCode = answer.status
    response.end(await answer.text())
  }
  shop.answerWith(({ body, headers }, response) => void handle(body, headers, response))
  expect(await textOf(await send())).toContain('accepted the test notification: status 200')
  expect(called).toEqual([])
})

test('the other styles get their own requests', async () => {
  await set('ipn_style=get', `ipn_url=${shop.url}/ipn?shop=7`)
  await send()
  await set('ipn_style=basic')
  await send()
  expect(shop.received.map(({ method, path: to }) => `${method} ${to}`)).toEqual([
    'GET /ipn?shop=7&invoice_id=tollgate%3Atest',
    'POST /ipn?shop=7',
  ])
  const [, basic] = shop.received
  expect(basic?.headers.authorization).toMatch(/^Basic /)
  expect(JSON.parse(basic?.body ?? '')).toMatchObject({ type: 'test', amount: '0.00' })
})

test('an answer is shown without markup, personal data and secrets', async () => {
  shop.answerWith((_request, response) => {
    response.statusCode = 500
    response.end(
      `<b>no order</b> of ama@example.com, 0240000001\u0000 ${merchant.test.ipn_secret} ${'x'.repeat(5000)}`,
    )
  })
  const page = await (await send()).text()
  expect(page).toContain('answered with status 500')
  expect(page).toContain('the endpoint failed with a server error')
  expect(page).toContain('&lt;b&gt;no order&lt;/b&gt; of a••@••, 024 ••• 0001 (removed) xxx')
  expect(page).not.toContain('x'.repeat(301))
})

test('an endpoint that does not answer is described in a sentence, in the language of the user', async () => {
  const gone = await openReceiver()
  await gone.close()
  await set(`ipn_url=${gone.url}/ipn`)
  expect(await textOf(await send())).toMatch(/got no answer after \d+ ms: no connection \(.+\)\./)
  expect(await textOf(await send(await member('fr')))).toMatch(
    /restée sans réponse après \d+ ms : pas de connexion/,
  )
})

test('an address inside the network is not tried', async () => {
  await set('ipn_url=http://10.0.0.1/ipn')
  const page = await textOf(await send())
  expect(page).toContain('not sent: a forbidden address')
  expect(page).toContain('the address is not public')
})

test('after five tests a merchant waits, and another one does not', async () => {
  for (let sent = 0; sent < 5; sent++) expect((await send()).status).toBe(200)
  const answer = await send()
  expect(answer.status).toBe(429)
  expect(await textOf(answer)).toContain('Many tests were sent a moment ago, and this one was not.')
  expect(shop.received).toHaveLength(5)
  expect(await audits()).toHaveLength(5)
  merchant = await gateway.addMerchant(`ipn_url=${shop.url}/ipn`)
  expect((await send(await member())).status).toBe(200)
})

test('without an address there is no button, and a form of an older page says so', async () => {
  merchant = await gateway.addMerchant()
  developer = await member()
  expect(await developer.html(path())).not.toContain('test-notification')
  expect(await textOf(await send())).toContain('No ipn_url is set, so there is nowhere to send it.')
})

test('a test is sent without a new password, and not by an operator who may only read', async () => {
  await gateway.db.rows(
    sql`update user_sessions set confirmed_at = null where user_id = ${developer.user_id}`,
  )
  expect((await send()).status).toBe(200)
  const reader = await signedIn(gateway, { operator: 'read_only' })
  expect(await reader.html(path())).not.toContain('test-notification')
  expect((await send(reader)).status).toBe(403)
  expect((await send(await signedIn(gateway, { operator: 'support' }))).status).toBe(200)
  expect(shop.received).toHaveLength(2)
})
