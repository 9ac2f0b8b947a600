import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { type Credentials, onboard } from '../../src/actions/merchants/onboard.ts'
import { isUnresolved } from '../../src/core/payment/attempt.ts'
import { stateAt } from '../../src/sandbox/charge.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import type { Charge } from '../../src/store/sandboxCharges.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { readPayments } from '../support/payments/paymentDatabase.ts'
import { type KilledGateway, startKilledGateway } from '../support/processes/killedGateway.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'
import { postForm, wallet } from '../support/checkout/stages.ts'
import { pick, random, randomBelow } from '../support/random.ts'

const killsOfEach = 12
const customers = 12
const patienceMs = 100_000 // from the last kill on: an order that died with its gateway is believed absent after five minutes: see letTimePass

const masterKey = randomBytes(32)
let database: FreshDatabase
let db: Db
let merchant_id: string
let shop: Credentials
const gateways: (KilledGateway & { done: Promise<void> })[] = []
let lastKillAt = Infinity

beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 4)
  const merchant = await onboard(db, givenMasterKeys([masterKey]), 'Ama Shop', ['test'], new Date())
  await setMerchant(db, merchant.merchant_id, ['rate_limit=0'])
  assert.ok(merchant.test)
  merchant_id = merchant.merchant_id
  shop = merchant.test
})
afterAll(async () => {
  await Promise.all(gateways.map(gateway => gateway.stop()))
  await db.end()
  await database.drop()
})

// At whichever gateway is there; undefined where it died or was not ready.
async function ask<T extends { http: number }>(work: (url: string) => Promise<T>): Promise<T | undefined> {
  const url = pick(gateways)?.url()
  const answer = url ? await work(url).catch(() => undefined) : undefined
  return answer && answer.http < 500 ? answer : undefined
}

async function surely<T extends { http: number }>(work: (url: string) => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await ask(work)
    if (answer) return answer
    await sleep(30)
  }
}

// Pays with a number that waits for somebody, gives it up while somebody may approve it, goes on, and again, until it is paid.
async function customer(isOver: () => boolean) {
  while (!isOver()) {
    const request = signedRequest(shop)
    const { body } = await surely(url => post(url, request))
    const at = (path: string) => (url: string) => `${url}/checkout/${body.tx_token}${path}`
    const begunAt = Date.now()
    const isPatient = () => Date.now() - Math.max(begunAt, lastKillAt) < patienceMs
    for (let number = 1, stage = ''; stage !== 'paid' && isPatient(); await sleep(50)) {
      const state = await ask(url => send(at('/state')(url)))
      stage = state?.body.stage ?? stage
      if (stage === 'choose' || stage === 'failed') {
        const [, made] = /^\w+-(\d+)-/.exec(state?.body.version ?? '') ?? []
        number = made === undefined ? number : Number(made) + 1
        const phone = number > 3 ? '0240000000' : `024${1000 + randomBelow(9000)}567`
        await ask(url => postForm(at('/pay')(url), { number: String(number), ...wallet(phone) }))
      } else if (stage === 'wait') {
        if (random() < 0.2) await approve(body.tx_token)
        await ask(url => postForm(at('/give-up')(url), { for: 'method', number: String(number) }))
      }
    }
  }
}

async function approve(tx_token: string) {
  const open = await db.one<{ attempt_id: string }>(sql`
    select attempt_id from attempts join payments using (merchant_id, tx_reference)
    where tx_token = ${tx_token} and state not in ('paid', 'failed')`)
  if (open) await ask(url => postForm(`${url}/sandbox/phone/${open.attempt_id}`, { decision: 'approve' }))
}

// What was stored by a gateway that died before it was sent is never sent once it was given up: it ends when it has not
// been seen for five minutes, and nobody has to sit through them here.
const letTimePass = () =>
  db.rows(sql`
    update attempts a set created_at = created_at - interval '7 minutes', next_poll_at = now()
    where state in ('started', 'unknown') and created_at between now() - interval '4 minutes' and now() - interval '10 seconds'
      and not exists (select from sandbox_charges c where c.reference = a.attempt_id)`)

// On a slow machine there were few customers between the kills: they go on until each thing has happened that is looked at.
const hasSeenAll = async () => {
  const seen = await db.one<{ withdrawn: bigint; approved: bigint }>(sql`
    select count(*) filter (where reason = 'withdrawn') as withdrawn,
      count(*) filter (where gave_up_at is not null and state = 'paid') as approved from attempts`)
  return Number(seen?.withdrawn) > customers && Number(seen?.approved) > 0
}

test(`two gateways killed ${2 * killsOfEach} times while customers give up and go on: one charge for each payment`, async () => {
  const env = {
    DATABASE_URL: database.url,
    TOLLGATE_MASTER_KEY: masterKey.toString('hex'),
    LOG_LEVEL: 'error',
  }
  gateways.push(...(await Promise.all([1, 2].map(() => startKilledGateway(env, killsOfEach)))))
  let isOver = false
  const paying = Promise.all(Array.from({ length: customers }, () => customer(() => isOver)))
  const passing = setInterval(() => void letTimePass(), 1000)
  await Promise.all(gateways.map(({ done }) => done))
  lastKillAt = Date.now()
  await expect.poll(hasSeenAll, { timeout: patienceMs, interval: 500 }).toBe(true)
  isOver = true
  await paying
  clearInterval(passing)

  const charges = await db.rows<Charge>(sql`select * from sandbox_charges`)
  const references = await db.rows<{ tx_reference: string }>(sql`select tx_reference from payments`)
  const lives = await readPayments(
    db,
    merchant_id,
    references.map(({ tx_reference }) => tx_reference),
  )
  const faults = lives.flatMap(({ payment, attempts, events, tasks }) => {
    const ours = charges.filter(({ reference }) => attempts.some(a => a.attempt_id === reference))
    const wasGivenUp = (id: string | null) => attempts.find(a => a.attempt_id === id)?.gave_up_at
    const paid = ours.filter(charge => stateAt(charge, new Date()).status === 'SUCCESSFUL')
    const found = [
      payment.status !== 'paid' && payment.status,
      paid.length !== 1 && `${paid.length} charges`,
      attempts.filter(isUnresolved).length > 0 && 'unresolved',
      tasks.length > 0 && tasks.map(({ kind }) => kind).join(),
      events.some(({ to_status, attempt_id }) => to_status === 'failed' && wasGivenUp(attempt_id)) &&
        'the shop heard of a failure that was none',
    ]
    return found.filter(Boolean).map(fault => `${payment.tx_reference} ${fault}`)
  })
  assert.deepEqual(faults, [])
}, 900_000)
