import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { initiate } from '../../../src/actions/interface/initiate.ts'
import { onboard } from '../../../src/actions/merchants/onboard.ts'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { pollAttempt } from '../../../src/actions/payments/callProvider.ts'
import { pay, type PayRequest } from '../../../src/actions/payments/pay.ts'
import type { Mode } from '../../../src/core/mode.ts'
import { currencies } from '../../../src/core/money.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import type { ProviderAccount } from '../../../src/core/provider/provider.ts'
import type { Reply } from '../../../src/core/provider/reply.ts'
import type { PaymentDeps } from '../../../src/runtime/runtime.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { openDb } from '../../../src/store/db.ts'
import { attemptsOf } from '../../../src/store/payments/attempts.ts'
import { findPayment } from '../../../src/store/payments/paymentLife.ts'
import { migratedDatabase } from '../database/database.ts'
import type { TestMerchant } from '../gateway/gateway.ts'
import { testRuntime } from '../gateway/runtime.ts'
import { signedRequest } from '../merchant/merchant.ts'
import { minutes, withOrderName } from './rows.ts'
import { terms } from './simulatedNode.ts'
import { fixedAccounts } from './fixedAccounts.ts'

export type TestShop = Awaited<ReturnType<typeof openShop>>

const way = {
  badge: { text: '', background: '', ink: '' },
  currencies,
  next: 'prompt',
  lifetimeMs: minutes(5),
} as const

// Payments and attempts by the real actions on a separate database. The test decides the provider's replies.
export async function openShop({
  key = randomBytes(32),
  accounts = { test: 'test_bank', live: 'live_bank' },
}: {
  key?: Buffer
  accounts?: Record<Mode, string>
} = {}) {
  const database = await migratedDatabase()
  const db = openDb(database.url, 4)
  const masterKeys = givenMasterKeys([key])
  let reply: Reply = { state: 'pending' }
  let now = new Date()
  const providerAccount = (mode: Mode): ProviderAccount => ({
    ...terms,
    mode,
    methods: [
      {
        ...way,
        payment_method: 'mtn_mobile_money',
        label: 'MTN MoMo',
        fields: [{ name: 'phone', kind: 'phone' }],
      },
      { ...way, payment_method: 'card', label: 'Card', fields: [] },
    ],
    start: async order => withOrderName(order, reply),
    check: async order => withOrderName(order, reply),
  })
  const providerAccounts = fixedAccounts(
    new Map((['test', 'live'] as const).map(mode => [accounts[mode], providerAccount(mode)])),
  )
  const runtime = testRuntime({ db, masterKeys, providerAccounts, clock: () => now })

  const fresh = async (payment: Payment) => (await findPayment(db, payment)) as Payment

  return {
    db,
    runtime,
    url: database.url,
    env: { DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: key.toString('hex'), PORT: '0' },
    fresh,
    setNow: (at: Date) => void (now = at),
    async addMerchant(name = 'Ama Shop', ...settings: string[]) {
      const merchant = (await onboard(db, masterKeys, name, ['test', 'live'], now)) as TestMerchant
      await setMerchant(db, merchant.merchant_id, settings)
      return merchant
    },
    // The merchant requests a payment.
    async ask(merchant: TestMerchant, fields: Record<string, unknown> = {}, mode: Mode = 'live') {
      const { stored } = await initiate(runtime, signedRequest(merchant[mode], fields), 'api', '127.0.0.1')
      const payment = await findPayment(db, { ...stored })
      assert.ok(payment)
      return payment
    },
    // The customer starts an attempt, and the provider gives this reply.
    async try(payment: Payment, says: Reply, request: Partial<PayRequest> = {}) {
      reply = says
      const attempts = await attemptsOf(db, payment.merchant_id, payment.tx_reference)
      const paying = await pay(runtime, payment, {
        number: attempts.length + 1,
        payment_method: 'mtn_mobile_money',
        input: { phone: '0241234567' },
        cause: 'customer',
        address: '127.0.0.1',
        ...request,
      })
      assert.deepEqual(paying, { done: 'started' })
      return fresh(payment)
    },
    // Polls the provider about an attempt (default: the last one), and it gives this reply.
    async hear(payment: Payment, says: Reply, number?: number, deps: PaymentDeps = runtime) {
      reply = says
      const attempts = await attemptsOf(db, payment.merchant_id, payment.tx_reference)
      const attempt = attempts.at(number === undefined ? -1 : number - 1)
      assert.ok(attempt)
      await pollAttempt(deps, attempt)
      return fresh(payment)
    },
    async stop() {
      await db.end()
      await database.drop()
    },
  }
}
