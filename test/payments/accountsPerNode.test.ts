import { afterAll, beforeAll, expect, test } from 'vitest'
import { onboard } from '../../src/actions/merchants/onboard.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { sql } from '../../src/store/db.ts'
import { mtnCredentials, openMtn, type MtnSimulator } from '../simulators/mtn/mtn.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'

// Two nodes on one database, of which one has the account.
const TOLLGATE_MASTER_KEY = 'ab'.repeat(32)
let mtn: MtnSimulator
let having: TestGateway
let lacking: TestGateway
let shop: TestMerchant
beforeAll(async () => {
  mtn = await openMtn()
  having = await testGateway({
    TOLLGATE_MASTER_KEY,
    MTN_SUBSCRIPTION_KEY: mtnCredentials.subscriptionKey,
    MTN_API_USER: mtnCredentials.apiUser,
    MTN_API_KEY: mtnCredentials.apiKey,
    MTN_ENVIRONMENT: 'mtnghana',
    MTN_URL: mtn.url,
  })
  lacking = await testGateway({ TOLLGATE_MASTER_KEY }, {}, { url: having.databaseUrl, drop: async () => {} })
  const masterKeys = givenMasterKeys([Buffer.from(TOLLGATE_MASTER_KEY, 'hex')])
  shop = (await onboard(having.db, masterKeys, 'Ama Shop', ['test', 'live'], new Date())) as TestMerchant
})
afterAll(async () => {
  await lacking.stop()
  await having.stop()
  await mtn.stop()
})

type Row = { attempt_id: string; idempotency_key: string; state: string; account_identity: string }

test('a callback at the node without the account makes the other node ask at once', async () => {
  const direct = {
    generate_checkout_url: undefined,
    pymt_instrument: '0241234567',
    extra_wallet_issuer_hint: 'mtn',
  }
  const { tx_reference } = (await post(having.url, signedRequest(shop.live, direct))).body
  const attempt = async () =>
    (await having.db.one<Row>(sql`
      select attempt_id, idempotency_key, state, account_identity from attempts where tx_reference = ${tx_reference}`)) as Row
  await expect.poll(async () => (await attempt()).state, { timeout: 20_000 }).toBe('pending')
  const { attempt_id, idempotency_key, account_identity } = await attempt()
  expect(account_identity).toMatch(/^mtn mtnghana [0-9a-z]{16}$/)
  await having.db.rows(sql`update attempts set next_poll_at = now() + interval '10 minutes'
    where attempt_id = ${attempt_id}`)
  await mtn.approve(idempotency_key)
  expect((await send(`${lacking.url}/callbacks/${attempt_id}`, { method: 'POST', body: '{}' })).http).toBe(
    200,
  )
  await expect.poll(async () => (await attempt()).state, { timeout: 5000 }).toBe('paid')
  expect(await having.db.rows(sql`select kind from tasks`)).toEqual([])
})
