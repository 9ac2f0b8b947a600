import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type Credentials, onboard } from '../../../src/actions/merchants/onboard.ts'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { webhookIdOf } from '../../../src/runtime/providers/accounts.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { type Db, openDb, sql } from '../../../src/store/db.ts'
import { faultsAtRest, faultsOf } from '../../payments/walk/faults.ts'
import type { Entry, RefundEntry } from '../../payments/walk/provider.ts'
import { disbursementCredentials, mtnCredentials, openMtn } from '../../simulators/mtn/mtn.ts'
import { openPaystack } from '../../simulators/paystack/paystack.ts'
import { type FreshDatabase, migratedDatabase } from '../database/database.ts'
import { readPayments } from '../payments/paymentDatabase.ts'
import { type HoldingProxy, openHoldingProxy } from './holdingProxy.ts'

// Two simulated providers with a shop for each. The test starts and kills the gateways between them.
export const paystackKey = 'sk_test_8c41f0d27be95a36'
export const code = '739164' // the one that the Paystack simulator accepts

export type SimulatedProviders = Awaited<ReturnType<typeof openSimulatedProviders>>
export type SimulatedProvider = {
  name: 'mtn' | 'paystack'
  shop: Credentials
  merchant_id: string
  proxy: HoldingProxy // between gateway and provider
  entries(): Entry[] // the provider's orders, by attempt
  isAsked(attempt_id: string): boolean // whether the customer is asked to approve
  approve(attempt_id: string): Promise<unknown>
  decline(attempt_id: string): Promise<unknown>
  callBack(attempt_id: string): Promise<unknown> // repeats the callback that it is paid
  refundsOf(attempt_id: string): bigint[] // amounts of the refunds that it made of a charge and did not fail
  paths: { order: string; check: string; refund: string }
}

export async function openSimulatedProviders(given?: FreshDatabase) {
  const database = given ?? (await migratedDatabase())
  const db = openDb(database.url, 4)
  const masterKey = randomBytes(32)
  const callbackProxy = await openHoldingProxy('http://127.0.0.1:1') // the address of all callbacks
  const mtn = await simulateMtn(await addShop(db, masterKey, 'mtn'))
  const paystack = await simulatePaystack(await addShop(db, masterKey, 'paystack'), callbackProxy.url)
  const providers: SimulatedProvider[] = [mtn.provider, paystack.provider]
  return {
    db,
    databaseUrl: database.url,
    callbackProxy,
    providers,
    mtn: mtn.provider,
    paystack: paystack.provider,
    simulators: { mtn: mtn.simulator, paystack: paystack.simulator },
    env: {
      DATABASE_URL: database.url,
      TOLLGATE_MASTER_KEY: masterKey.toString('hex'),
      TOLLGATE_BASE_URL: callbackProxy.url,
      TOLLGATE_SANDBOX: 'off', // it would serve methods of a failing account
      LOG_LEVEL: 'error',
      ...mtn.env,
      ...paystack.env,
    },
    async close() {
      for (const { close } of [callbackProxy, ...providers.map(({ proxy }) => proxy)]) await close()
      await mtn.simulator.stop()
      await paystack.simulator.stop()
      await db.end()
      await database.drop()
    },
  }
}

// The payments of this shop use one account only.
async function addShop(db: Db, masterKey: Buffer, provider: string) {
  const merchant = await onboard(db, givenMasterKeys([masterKey]), 'Ama Shop', ['test'], new Date())
  const { merchant_id, test: shop } = merchant
  const changed = await setMerchant(db, merchant_id, ['rate_limit=0', `providers=${provider}`])
  assert.deepEqual(changed?.faults, [])
  assert.ok(shop)
  return { merchant_id, shop }
}

type Owner = Pick<SimulatedProvider, 'merchant_id' | 'shop'>

async function simulateMtn(owner: Owner) {
  const simulator = await openMtn({ environment: 'sandbox' })
  simulator.rule({ story: { callbacks: [{ at: 'end', times: 2 }] } }) // every number waits for approval
  const proxy = await openHoldingProxy(simulator.url)
  const find = (id: string) => simulator.book().find(({ sent }) => sent.externalId === id)
  const provider: SimulatedProvider = {
    ...owner,
    name: 'mtn',
    proxy,
    entries() {
      const refunds = simulator.refundBook()
      const refundedKeys = new Set(refunds.map(({ charge }) => charge))
      const refundsOf = (key: string) =>
        refundedKeys.has(key) ? refunds.filter(one => one.charge === key) : []
      return simulator.book().map(({ key, sent, status }) => ({
        ...entryOf(sent.externalId, minorOf(sent.amount), status),
        ...ourRefunds(
          refundsOf(key).map(one => ({
            id: one.financialTransactionId ?? one.key,
            refund_reference: one.sent.externalId,
            amount: minorOf(one.sent.amount),
            state: one.isPaid ? 'made' : one.status === 'FAILED' ? 'failed' : 'pending',
          })),
        ),
      }))
    },
    isAsked: id => find(id)?.status === 'PENDING',
    approve: async id => simulator.approve(find(id)?.key ?? ''),
    decline: async id => simulator.decline(find(id)?.key ?? ''),
    callBack: async id => simulator.callBack({ key: find(id)?.key ?? '' }),
    refundsOf: id =>
      simulator
        .refundBook()
        .filter(one => one.charge === find(id)?.key && one.status !== 'FAILED')
        .map(({ sent }) => minorOf(sent.amount)),
    paths: {
      order: '/collection/v1_0/requesttopay',
      check: '/collection/v1_0/requesttopay/',
      refund: '/disbursement/v1_0/refund',
    },
  }
  const env = {
    MTN_SUBSCRIPTION_KEY: mtnCredentials.subscriptionKey,
    MTN_API_USER: mtnCredentials.apiUser,
    MTN_API_KEY: mtnCredentials.apiKey,
    MTN_URL: proxy.url,
    MTN_CALLBACKS: 'on',
    MTN_DISBURSEMENT_SUBSCRIPTION_KEY: disbursementCredentials.subscriptionKey,
    MTN_DISBURSEMENT_API_USER: disbursementCredentials.apiUser,
    MTN_DISBURSEMENT_API_KEY: disbursementCredentials.apiKey,
  }
  return { simulator, provider, env }
}

async function simulatePaystack(owner: Owner, callbackUrl: string) {
  const webhookUrl = `${callbackUrl}/callbacks/account/${webhookIdOf('paystack')}`
  const simulator = await openPaystack({ secretKey: paystackKey, webhookUrl, retryMs: 500 })
  simulator.rule({ story: { asks: 'send_otp', code, hooks: [{}, { afterMs: 50 }] } })
  const proxy = await openHoldingProxy(simulator.url)
  const find = (id: string) => simulator.book().find(({ reference }) => reference === id)
  const provider: SimulatedProvider = {
    ...owner,
    name: 'paystack',
    proxy,
    entries: () =>
      simulator.book().map(({ reference, amount, ended, refunds }) => ({
        ...entryOf(reference, BigInt(amount), ended === 'reversed' ? 'success' : (ended ?? '')),
        ...ourRefunds(
          refunds.map(one => ({
            id: String(one.id),
            refund_reference: one.note ?? '',
            amount: BigInt(one.amount),
            state: one.status === 'processed' ? 'made' : one.status === 'failed' ? 'failed' : 'pending',
          })),
        ),
      })),
    isAsked: id => find(id)?.asks === 'pay_offline' && !find(id)?.ended,
    approve: async key => simulator.approve({ idempotency_key: key }),
    decline: async key => simulator.decline({ idempotency_key: key }),
    callBack: async key => simulator.hook({ idempotency_key: key }),
    refundsOf: id =>
      (find(id)?.refunds ?? [])
        .filter(({ status }) => status !== 'failed')
        .map(({ amount }) => BigInt(amount)),
    paths: { order: '/charge', check: '/transaction/verify/', refund: '/refund' },
  }
  return { simulator, provider, env: { PAYSTACK_SECRET_KEY: paystackKey, PAYSTACK_URL: proxy.url } }
}

const minorOf = (amount: string) => BigInt(Math.round(Number(amount) * 100))

// Refunds that the gateway requested, as the walks read them. A second one with the same reference is a second request.
const ourRefunds = (
  all: readonly Pick<RefundEntry, 'id' | 'refund_reference' | 'amount' | 'state'>[],
): Pick<Entry, 'ours' | 'refunds'> => ({
  ours: all.map(one => ({ ...one, key: one.refund_reference, starts: 1 })),
  refunds: all
    .filter(({ state }) => state === 'made')
    .map(({ id, amount, refund_reference }) => ({ id, amount, refund_reference, words: '' })),
})

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
    callsBack: !isCharged, // a callback is pending
    code: 'none',
    wrongCodes: 0,
    refunds: [],
    ours: [],
    disputes: [],
  }
}

// The violated rules of a shop's payments, as sentences. The provider's orders are read last, because they only grow.
export async function faultsIn(db: Db, provider: SimulatedProvider, isAtRest: boolean): Promise<string[]> {
  const { merchant_id } = provider
  const rows = await db.rows<{ tx_reference: string }>(sql`
    select tx_reference from payments where merchant_id = ${merchant_id}`)
  const lives = await readPayments(
    db,
    merchant_id,
    rows.map(({ tx_reference }) => tx_reference),
  )
  const entries = provider.entries()
  const known = new Set(lives.flatMap(({ attempts }) => attempts.map(({ attempt_id }) => attempt_id)))
  const unknown = isAtRest ? entries.filter(({ reference }) => !known.has(reference)) : []
  return [
    ...unknown.map(({ reference }) => `an unknown charge: ${reference}`),
    ...lives.flatMap(life => {
      const ours = entries.filter(entry => life.attempts.some(a => a.attempt_id === entry.reference))
      const orders = new Map(ours.map(entry => [entry.reference, entry]))
      const found = [...faultsOf(life, orders), ...(isAtRest ? faultsAtRest(life, orders, new Date()) : [])]
      if (orders.size < ours.length) found.push('an attempt was ordered twice')
      for (const { attempt_id, state } of life.attempts)
        if (state === 'failed' && orders.get(attempt_id)?.truth === 'pending')
          found.push(`${attempt_id} failed while it can be paid`)
      return found.map(fault => `${provider.name} ${life.payment.tx_reference} ${fault}`)
    }),
  ]
}
