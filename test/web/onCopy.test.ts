import { afterAll, beforeAll, expect, test } from 'vitest'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { signedIn } from '../support/dashboard/signedIn.ts'
import type { Credentials, TestMerchant } from '../support/gateway/gateway.ts'
import { type FreshDatabase, migratedDatabase, query } from '../support/database/database.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'
import { tollgate } from '../cli/tollgate.ts'

const masterKey = '7'.repeat(64)

let database: FreshDatabase
let gateway: TestGateway
let merchant: TestMerchant
let env: Record<string, string>
let paid: { live: string; test: string } // checkout addresses that the original made

// A gateway on a database whose only known address is another one, as on a copy.
beforeAll(async () => {
  database = await migratedDatabase()
  env = { DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: masterKey }
  const original = await testGateway(env, {}, { url: database.url, drop: async () => {} })
  merchant = await original.addMerchant()
  const request = async (keys: Credentials) =>
    new URL((await post(original.url, signedRequest(keys))).body.checkout_url).pathname
  paid = { live: await request(merchant.live), test: await request(merchant.test) }
  await original.stop()
  await query(database.url, `update installation_addresses set address = 'db:5432/tollgate'`)
  await query(database.url, 'delete from nodes')
  gateway = await testGateway(env, {}, database)
}, 60_000)
afterAll(() => gateway.stop())

const form = { method: 'POST', body: new URLSearchParams() }

test('a live payment is refused with 503, the cure and the id of the request; nothing is stored', async () => {
  const before = await query(database.url, 'select count(*) from payments')
  const { http, body } = await post(gateway.url, signedRequest(merchant.live))
  expect(http).toBe(503)
  expect(body).toMatchObject({
    success: false,
    error: { code: 'GW-050', message: expect.stringMatching(/copy of its database.*tollgate adopt/) },
    request_id: expect.stringMatching(/./),
  })
  expect(await query(database.url, 'select count(*) from payments')).toEqual(before)
})

test('a test payment is taken, so that a drill can try the copy', async () => {
  expect((await post(gateway.url, signedRequest(merchant.test))).http).toBe(200)
})

test('the page of a live payment says what it is, and its buttons change nothing', async () => {
  const page = await (await fetch(`${gateway.url}${paid.live}`)).text()
  expect(page).toContain('A copy of the payment system')
  const cancelled = await send(`${gateway.url}${paid.live}/cancel`, form)
  expect([cancelled.http, cancelled.text]).toEqual([
    503,
    expect.stringContaining('This page cannot take your payment'),
  ])
  expect(await query(database.url, `select distinct status from payments where mode = 'live'`)).toEqual([
    { status: 'awaiting_payment' },
  ])
})

test('the page of a test payment works, and nothing of it is sent', async () => {
  const cancelled = await send(`${gateway.url}${paid.test}/cancel`, form)
  expect(cancelled.http).toBeLessThan(400)
  expect(await query(database.url, 'select from tries')).toEqual([])
})

for (const args of [
  ['notification', 'redeliver', 'TG-01KA9C-7M2QXH-0V4D1R-N1'],
  ['message', 'resend', 'AMA-1'],
])
  test(`tollgate ${args.slice(0, 2).join(' ')} is refused with the cure`, async () => {
    const { code, stderr } = await tollgate(env, ...args)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/Nothing was changed.*is a copy.*tollgate adopt/),
    ])
  })

test('a developer’s test notification is refused, and not recorded as sent', async () => {
  const { merchant_id } = merchant
  await setMerchant(gateway.db, merchant_id, ['ipn_url=https://shop.example/ipn'])
  const developer = await signedIn(gateway, { member: { merchant_id, role: 'developer' } })
  const page = `/dashboard/m/${merchant_id}/test/developers`
  const answer = await developer.submit(page, `${page}/test-notification`)
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('copy')])
  expect(await query(database.url, `select from audit_entries where action = 'notification.test'`)).toEqual(
    [],
  )
})

test('tollgate payment request is refused in live mode only', async () => {
  const args = ['payment', 'request', '--merchant', merchant.merchant_id, '--total', '25.00', '--mode']
  expect((await tollgate(env, ...args, 'live')).stderr).toMatch(/is a copy/)
  expect((await tollgate(env, ...args, 'test')).code).toBe(0)
})
