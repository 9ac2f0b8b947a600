import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { temporaryFolder, tollgateJson } from '../cli/tollgate.ts'
import { query } from '../support/database/database.ts'
import { type GatewayProcess, spawnGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { hours, minutes, pending, seconds, yes } from '../support/payments/rows.ts'
import { asOperator, operatorToken } from '../support/gateway/operatorAuth.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'

// Two nodes on one database: one whose machine shows the right time, and one whose machine shows what a test likes.
const folder = temporaryFolder()
chmodSync(folder, 0o755) // a gateway that root starts reads the clock as another user
const file = join(folder, 'shift')
const setOddClock = async (ms: number) => {
  writeFileSync(file, String(ms))
  await sleep(100)
}
const oddMachine = {
  NODE_OPTIONS: `--import=${new URL('../support/processes/shiftedClock.mjs', import.meta.url).href}`,
  CLOCK_SHIFT_FILE: file,
}
const agoMs = (ms: number) => new Date(Date.now() - ms)

// The database's clock too, on connections that are opened from then on: our names are found before PostgreSQL's.
const playClock = `
  create schema played;
  create table played.shift as select interval '0' as by;
  create function played.clock_timestamp() returns timestamptz language sql as
    'select pg_catalog.clock_timestamp() + by from played.shift';
  do $$ begin
    execute format('alter database %I set search_path = public, played, pg_catalog', current_database());
  end $$`
const setDatabaseClock = (by: string) => query(shop.url, `update played.shift set by = '${by}'`)

let shop: TestShop
let merchant: TestMerchant
let endpoint: Receiver // the merchant's, and the SMS provider's
let right: GatewayProcess
let odd: GatewayProcess

beforeAll(async () => {
  shop = await openShop()
  endpoint = await openReceiver()
  merchant = await shop.addMerchant('Ama Shop', `ipn_url=${endpoint.url}/ipn`)
  await query(shop.url, playClock)
  const env = {
    ...shop.env,
    TOLLGATE_EGRESS_LOOPBACK: 'on',
    SMS_HTTP_URL: `${endpoint.url}/sms`,
    SMS_HTTP_BODY: '{"to":"{to}","text":"{text}","id":"{id}"}',
  }
  await setOddClock(minutes(61))
  ;[right, odd] = await Promise.all([spawnGateway(env), spawnGateway({ ...env, ...oddMachine })])
})
afterEach(() => {
  continueTheRightOne()
  endpoint.answerWith((_, response) => void response.end('ok'))
})
afterAll(async () => {
  await Promise.all([right, odd].map(node => node.kill('SIGKILL')))
  await endpoint.close()
  await shop.stop()
})

// Only the odd one works meanwhile.
const stopTheRightOne = () => void right.child.kill('SIGSTOP')
const continueTheRightOne = () => void right.child.kill('SIGCONT')

test('a node whose machine is 61 minutes ahead expires what is due, and no new payment', async () => {
  stopTheRightOne()
  shop.setNow(new Date())
  const fresh = await shop.ask(merchant)
  shop.setNow(agoMs(hours(2)))
  const over = await shop.ask(merchant)
  // It was stored long after it had expired, as no payment is: the next sweep finds it.
  await expect.poll(async () => (await shop.fresh(over)).status, { timeout: 90_000 }).toBe('failed')
  expect((await shop.fresh(fresh)).status).toBe('awaiting_payment')
})

for (const [behind, what, path] of [
  [seconds(60), 'notification', '/ipn'],
  [minutes(6), 'SMS', '/sms'],
] as const)
  test(`a node whose machine is ${behind / 1000} s behind has sent a ${what}: no other sends it meanwhile`, async () => {
    await setOddClock(-behind)
    stopTheRightOne()
    endpoint.answerWith(() => {}) // it takes whatever is sent, and says nothing
    shop.setNow(agoMs(minutes(10)))
    const payment = await shop.ask(merchant, { number: '0241234567' })
    await shop.try(payment, yes)
    const sent = () =>
      endpoint.received.filter(one => one.path === path && one.body.includes(payment.tx_reference)).length
    await expect.poll(sent).toBe(1)
    continueTheRightOne()
    await sleep(1500) // it looks several times
    expect(sent()).toBe(1)
  })

test('when the clock of a machine steps back by an hour, what is due is asked about all the same', async () => {
  await setOddClock(0)
  stopTheRightOne()
  shop.setNow(new Date())
  const payment = await shop.ask(merchant)
  await shop.try(payment, pending)
  await setOddClock(-hours(1))
  const { merchant_id, tx_reference } = payment
  const which = sql`where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}`
  // The gateway has no line to the bank of this test, but one to the sandbox.
  await shop.db.rows(sql`update attempts set provider_account = 'sandbox', mode = null, account_identity = null,
    next_poll_at = clock_timestamp() ${which}`)
  const asks = () => shop.db.one<{ polls: number }>(sql`select polls from attempts ${which}`)
  await expect.poll(asks).not.toEqual({ polls: 0 })
})

test('when the clock of the database jumps, a node pauses its workers, logs that, keeps serving, and resumes', async () => {
  const said = (words: string) => odd.output().split(words).length - 1
  const isPaused = async () =>
    /^tollgate_workers_paused 1$/m.test((await send(`${odd.url}/metrics`, { headers: asOperator })).text)
  stopTheRightOne()
  await setDatabaseClock('1 hour')
  await setOddClock(0) // a step here makes it look there at once
  await expect.poll(isPaused, { timeout: 15_000 }).toBe(true)

  shop.setNow(agoMs(hours(2)))
  const over = await shop.ask(merchant)
  const asked = await post(odd.url, signedRequest(merchant.live))
  expect(asked.http).toBe(200)
  const { tx_reference } = asked.body
  const stored = await shop.db.one<{ created_at: Date }>(
    sql`select created_at from payments where merchant_id = ${merchant.merchant_id} and tx_reference = ${tx_reference}`,
  )
  expect(Math.abs((stored?.created_at.getTime() ?? 0) - Date.now())).toBeLessThan(minutes(1))
  const { data } = await tollgateJson(
    { ...shop.env, PORT: new URL(odd.url).port, TOLLGATE_SUPPORT_TOKEN: operatorToken },
    'doctor',
  )
  const fact = expect.stringMatching(
    /expires and sends nothing: the clock of the database jumped by 3(600|599)[.\d]* s$/,
  )
  expect(data.checks).toContainEqual(expect.objectContaining({ check: 'workers', state: 'warning', fact }))
  expect(data.checks).toContainEqual(expect.objectContaining({ check: 'clocks', state: 'warning' }))
  expect((await shop.fresh(over)).status).toBe('awaiting_payment')

  await setDatabaseClock('0')
  await expect.poll(async () => (await shop.fresh(over)).status, { timeout: 90_000 }).toBe('failed') // by the next sweep
  expect([await isPaused(), said('clock skew: '), said('clock skew is over')]).toEqual([false, 1, 1])
})

test('a command reckons in the clock of the database, too', async () => {
  await setOddClock(-hours(2))
  const args = ['key', 'rotate', '--merchant', merchant.merchant_id, '--mode', 'test', '--overlap', '1h']
  const { data } = await tollgateJson({ ...shop.env, ...oddMachine }, ...args)
  const inAnHour = Date.now() + hours(1)
  expect(Math.abs(Date.parse(data.old_keys_valid_until) - inAnHour)).toBeLessThan(minutes(1))
})
