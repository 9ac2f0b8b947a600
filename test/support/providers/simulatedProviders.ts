import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type Credentials, onboard } from '../../../src/actions/merchants/onboard.ts'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { webhookIdOf } from '../../../src/runtime/providers/webhookId.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { type Db, openDb, sql } from '../../../src/store/db.ts'
import { faultsAtRest, faultsOf } from '../../payments/walk/faults.ts'
import type { Entry } from '../../payments/walk/provider.ts'
import { mtnCredentials, openMtn } from '../../simulators/mtn/mtn.ts'
import { openPaystack } from '../../simulators/paystack/paystack.ts'
import { migratedDatabase } from '../database/database.ts'
import { type Gate, openGate } from './holdingProxy.ts'
import { readLives } from '../payments/paymentDatabase.ts'

// Two providers, played, with a shop at each, and nothing between them but gateways that a test starts and kills.
export const paystackKey = 'sk_test_8c41f0d27be95a36'
export const code = '739164' // that the played Paystack takes

export type Rails = Awaited<ReturnType<typeof openRails>>
export type Rail = {
  name: 'mtn' | 'paystack'
  shop: Credentials
  merchant_id: string
  gate: Gate // that a gateway talks through
  entries(): Entry[] // what the provider has in its books, by attempt
  isAsked(attempt_id: string): boolean // the customer, to approve
  approve(attempt_id: string): Promise<unknown>
  decline(attempt_id: string): Promise<unknown>
  knock(attempt_id: string): Promise<unknown> // that it is paid, once more
  paths: { order: string; check: string }
}

export async function openRails() {
  const database = await migratedDatabase()
  const db = openDb(database.url, 4)
  const masterKey = randomBytes(32)
  const door = await openGate('http://127.0.0.1:1') // the one address that providers call back at
  const mtn = await playMtn(await addShop(db, masterKey, 'mtn'))
  const paystack = await playPaystack(await addShop(db, masterKey, 'paystack'), door.url)
  const rails: Rail[] = [mtn.rail, paystack.rail]
  return {
    db,
    databaseUrl: database.url,
    door,
    rails,
    mtn: mtn.rail,
    paystack: paystack.rail,
    played: { mtn: mtn.played, paystack: paystack.played },
    env: {
      DATABASE_URL: database.url,
      TOLLGATE_MASTER_KEY: masterKey.toString('hex'),
      TOLLGATE_BASE_URL: door.url,
      TOLLGATE_SANDBOX: 'off', // it would serve where an account is in trouble
      LOG_LEVEL: 'error',
      ...mtn.env,
      ...paystack.env,
    },
    async close() {
      for (const { close } of [door, ...rails.map(({ gate }) => gate)]) await close()
      await mtn.played.stop()
      await paystack.played.stop()
      await db.end()
      await database.drop()
    },
  }
}

// Its payments go to one account alone.
async function addShop(db: Db, masterKey: Buffer, provider: string) {
  const merchant = await onboard(db, givenMasterKeys([masterKey]), 'Ama Shop', ['test'], new Date())
  const { merchant_id, test: shop } = merchant
  const changed = await setMerchant(db, merchant_id, ['rate_limit=0', `providers=${provider}`])
  assert.deepEqual(changed?.faults, [])
  assert.ok(shop)
  return { merchant_id, shop }
}

type Owner = Pick<Rail, 'merchant_id' | 'shop'>

async function playMtn(owner: Owner) {
  const played = await openMtn({ environment: 'sandbox' })
  played.rule({ story: { callbacks: [{ at: 'end', times: 2 }] } }) // whatever the number, it waits for somebody
  const gate = await openGate(played.url)
  const find = (id: string) => played.book().find(({ sent }) => sent.externalId === id)
  const rail: Rail = {
    ...owner,
    name: 'mtn',
    gate,
    entries: () =>
      played.book().map(({ sent, status }) => entryOf(sent.externalId, minorOf(sent.amount), status)),
    isAsked: id => find(id)?.status === 'PENDING',
    approve: async id => played.approve(find(id)?.key ?? ''),
    decline: async id => played.decline(find(id)?.key ?? ''),
    knock: async id => played.callBack({ key: find(id)?.key ?? '' }),
    paths: { order: '/collection/v1_0/requesttopay', check: '/collection/v1_0/requesttopay/' },
  }
  const env = {
    MTN_SUBSCRIPTION_KEY: mtnCredentials.subscriptionKey,
    MTN_API_USER: mtnCredentials.apiUser,
    MTN_API_KEY: mtnCredentials.apiKey,
    MTN_URL: gate.url,
    MTN_CALLBACKS: 'on',
  }
  return { played, rail, env }
}

async function playPaystack(owner: Owner, doorUrl: string) {
  const webhookUrl = `${doorUrl}/callbacks/account/${webhookIdOf('paystack')}`
  const played = await openPaystack({ secretKey: paystackKey, webhookUrl, retryMs: 500 })
  played.rule({ story: { asks: 'send_otp', code, hooks: [{}, { afterMs: 50 }] } })
  const gate = await openGate(played.url)
  const find = (id: string) => played.book().find(({ reference }) => reference === id)
  const rail: Rail = {
    ...owner,
    name: 'paystack',
    gate,
    entries: () =>
      played.book().map(({ reference, amount, ended }) => entryOf(reference, BigInt(amount), ended ?? '')),
    isAsked: id => find(id)?.asks === 'pay_offline' && !find(id)?.ended,
    approve: async key => played.approve({ idempotency_key: key }),
    decline: async key => played.decline({ idempotency_key: key }),
    knock: async key => played.hook({ idempotency_key: key }),
    paths: { order: '/charge', check: '/transaction/verify/' },
  }
  return { played, rail, env: { PAYSTACK_SECRET_KEY: paystackKey, PAYSTACK_URL: gate.url } }
}

const minorOf = (amount: string) => BigInt(Math.round(Number(amount) * 100))

function entryOf(reference: string, amount: bigint, status: string): Entry {
  const isCharged = /^success/i.test(status)
  return {
    reference,
    name: reference,
    amount,
    truth: isCharged ? 'charged' : /^failed$/i.test(status) ? 'refused' : 'pending',
    charges: isCharged ? 1 : 0,
    wasRefused: /^failed$/i.test(status),
    refusedAt: 0,
    starts: 1,
    taken: 0,
    visible: 0,
    lastCharge: 0,
    knocks: !isCharged, // it is still to be heard of
    code: 'none',
    wrongCodes: 0,
    refunds: [],
    disputes: [],
  }
}

// What does not hold of a shop's payments, in sentences. The books are read after ours: they only grow.
export async function faultsIn(db: Db, rail: Rail, isAtRest: boolean): Promise<string[]> {
  const { merchant_id } = rail
  const rows = await db.rows<{ tx_reference: string }>(sql`
    select tx_reference from payments where merchant_id = ${merchant_id}`)
  const lives = await readLives(
    db,
    merchant_id,
    rows.map(({ tx_reference }) => tx_reference),
  )
  const entries = rail.entries()
  const known = new Set(lives.flatMap(({ attempts }) => attempts.map(({ attempt_id }) => attempt_id)))
  const strangers = isAtRest ? entries.filter(({ reference }) => !known.has(reference)) : []
  return [
    ...strangers.map(({ reference }) => `a charge of nobody: ${reference}`),
    ...lives.flatMap(life => {
      const ours = entries.filter(entry => life.attempts.some(a => a.attempt_id === entry.reference))
      const books = new Map(ours.map(entry => [entry.reference, entry]))
      const found = [...faultsOf(life, books), ...(isAtRest ? faultsAtRest(life, books, new Date()) : [])]
      if (books.size < ours.length) found.push('an attempt was ordered twice')
      for (const { attempt_id, state } of life.attempts)
        if (state === 'failed' && books.get(attempt_id)?.truth === 'pending')
          found.push(`${attempt_id} failed while it can be paid`)
      return found.map(fault => `${rail.name} ${life.payment.tx_reference} ${fault}`)
    }),
  ]
}
