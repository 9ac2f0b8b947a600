import assert from 'node:assert/strict'
import { installationSecrets } from '../../src/actions/installation/secrets.ts'
import { makeSupportLink } from '../../src/actions/installation/supportLinks.ts'
import { rotateIpnSecret, rotateKey } from '../../src/actions/merchants/credentials.ts'
import { setLogo } from '../../src/actions/merchants/logos.ts'
import { cancel } from '../../src/actions/payments/cancel.ts'
import { closeTask } from '../../src/actions/payments/closeTask.ts'
import { addAccount, newIdentity, prepareAccount } from '../../src/actions/providers/addAccount.ts'
import { saveAccountChange } from '../../src/actions/providers/setAccount.ts'
import { createRedaction } from '../../src/actions/redaction/redact.ts'
import type { Mode } from '../../src/core/mode.ts'
import { operatorKeys } from '../../src/core/operator/operatorKeys.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import type { Reply } from '../../src/core/provider/reply.ts'
import { loadProviders } from '../../src/runtime/providerAccounts.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { sql } from '../../src/store/db.ts'
import { addOutlet } from '../../src/store/merchants/merchants.ts'
import { addAcknowledgements } from '../../src/store/notifications/acknowledgedPaths.ts'
import { numberFeed } from '../../src/store/notifications/feed.ts'
import { attemptsOf } from '../../src/store/payments/attempts.ts'
import { findAccount, type StoredAccount } from '../../src/store/providers/accounts.ts'
import { addBusiness } from '../../src/store/providers/businesses.ts'
import { claimToken, saveToken } from '../../src/store/providers/tokens.ts'
import { addRefusedCounts, addRefusedRequests } from '../../src/store/requestLog.ts'
import { insertCharge } from '../../src/store/sandboxCharges.ts'
import { exampleTools } from '../support/providers/exampleProvider.ts'
import type { TestMerchant } from '../support/gateway/gateway.ts'
import {
  absent,
  after,
  hours,
  minutes,
  no,
  notSent,
  pending,
  unclear,
  wrong,
  yes,
} from '../support/payments/rows.ts'
import { plainPng } from '../support/merchant/pictures.ts'
import type { TestShop } from '../support/payments/shop.ts'
import { expireDue } from '../support/payments/expireDue.ts'

export const madeAt = new Date('2026-11-18T12:00:00Z')
export const masterKey = Buffer.alloc(32, 'fixture')
export const shopUrl = 'http://127.0.0.1:9' // a test replaces it by the address of its receiver
export const polledInvoice = 'POLLED-1' // its attempt is pending, and the sandbox has been paid
export const paidInvoice = 'PAID-1' // its delivery is due

const masterKeys = givenMasterKeys([masterKey])
const days = (count: number) => hours(24) * count

// Records of every kind and in every state, by the gateway's own actions; states that only a worker or a second node
// reaches are set by SQL.
export async function addRecords(shop: TestShop) {
  shop.setNow(madeAt)
  const merchant = await addMerchants(shop)
  await addOpenPayments(shop, merchant)
  await addEndedPayments(shop, merchant)
  await addMoneyBack(shop, merchant)
  await setDeliveries(shop)
  await setMessages(shop)
  await addProviderAccounts(shop, merchant)
  await addInstallation(shop)
  await addRefused(shop, merchant)
  await shop.db.rows(sql`update migrations set applied_at = ${madeAt}, served_at = ${madeAt}`)
}

async function addMerchants({ db, addMerchant }: TestShop): Promise<TestMerchant> {
  const ama = await addMerchant(
    'Ama Shop',
    `ipn_url=${shopUrl}/ipn`,
    'contact_email=ama@example.test',
    'rate_limit=0',
  )
  const basic = await addMerchant('Kofi Shop', `ipn_url=${shopUrl}/basic`)
  await db.rows(sql`update merchants set active = false where merchant_id = ${basic.merchant_id}`)
  await rotateKey(db, masterKeys, ama.merchant_id, 'test', days(1), madeAt)
  await rotateIpnSecret(db, masterKeys, ama.merchant_id, 'test', days(1), madeAt)
  await addOutlet(db, { merchant_id: ama.merchant_id, code: 'OSU', name: 'Osu', created_at: madeAt })
  assert.equal(typeof (await setLogo(db, ama.merchant_id, plainPng(), madeAt)), 'object')
  return ama
}

const customer = { number: '0244123456', email: 'kofi@example.test', name: 'Kofi Mensah' }

const ask = (shop: TestShop, merchant: TestMerchant, invoice_id: string, fields = {}, mode: Mode = 'test') =>
  shop.ask(merchant, { invoice_id, ...customer, ...fields }, mode)

// Payments whose attempts are in each unresolved state.
async function addOpenPayments(shop: TestShop, merchant: TestMerchant) {
  await ask(shop, merchant, 'FRESH-1', { outlet: 'OSU', description: 'Two straw hats', extra_order: '1042' })
  await ask(shop, merchant, 'FRESH-2', {}, 'live')
  const states: [string, Reply][] = [
    ['PENDING-1', pending],
    ['NOT-SENT-1', notSent],
    ['UNKNOWN-1', unclear],
    ['ABSENT-1', absent],
    ['STEP-1', { state: 'pending', step: { name: 'otp', fields: [{ name: 'otp', kind: 'digits' }] } }],
    ['PAGE-1', { state: 'pending', redirect_url: 'https://provider.example/pay/1' }],
    ['DISPUTED-1', wrong], // another amount: a task
  ]
  for (const [invoice, reply] of states) await shop.try(await ask(shop, merchant, invoice), reply)
  await shop.db.rows(sql`
    update attempts set idempotency_key = 'K-1' where ${ofInvoice('PENDING-1')}`)
  const started = await shop.try(await ask(shop, merchant, 'STARTED-1'), pending)
  await shop.db.rows(sql`
    update attempts set state = 'started', acknowledged_at = null, lease_until = ${after(minutes(1), madeAt)}
    where tx_reference = ${started.tx_reference}`)
  const polled = await shop.try(await ask(shop, merchant, polledInvoice), pending)
  const [attempt] = await attemptsOf(shop.db, polled.merchant_id, polled.tx_reference)
  assert.ok(attempt)
  await insertCharge(shop.db, {
    reference: attempt.attempt_id,
    method: 'mtn',
    payer: '+233241234567',
    amount: polled.total,
    currency: polled.currency,
    payee: 'Ama Shop',
    note: null,
    ending: 'approved',
    callback_url: `${shopUrl}/callbacks/${attempt.attempt_id}`,
    return_url: `${shopUrl}/checkout/${polled.tx_token}`,
    created_at: madeAt,
  })
}

async function addEndedPayments(shop: TestShop, merchant: TestMerchant) {
  await shop.try(await ask(shop, merchant, paidInvoice), yes)
  for (const n of [2, 3, 4, 5, 6]) await shop.try(await ask(shop, merchant, `PAID-${n}`), yes)
  await shop.try(await ask(shop, merchant, 'FAILED-1'), no)
  const again = await shop.try(await ask(shop, merchant, 'AGAIN-1'), no)
  await shop.try(again, yes)
  await cancel(shop.runtime, await ask(shop, merchant, 'CANCELLED-1'), madeAt)
  const late = await shop.try(await ask(shop, merchant, 'LATE-1'), no)
  await cancel(shop.runtime, late, madeAt)
  await shop.hear(late, yes)
  const mismatch = await shop.try(await ask(shop, merchant, 'CLOSED-TASK-1'), wrong)
  const closed = await closeTask(
    shop.db,
    mismatch,
    { kind: 'amount_mismatch', note: 'Refunded by hand.' },
    madeAt,
  )
  assert.equal(closed.done, 'closed')
  shop.setNow(after(-hours(3), madeAt))
  await ask(shop, merchant, 'EXPIRED-1')
  shop.setNow(after(-days(40), madeAt))
  await shop.try(await ask(shop, merchant, 'REDACTED-1'), yes)
  shop.setNow(madeAt)
  await expireDue(shop.db, madeAt)
  await redactOld(shop)
}

const leftOut = ({ error }: { error: unknown }) => {
  throw error
}

async function redactOld({ db }: TestShop) {
  await db.rows(sql`
    update deliveries set next_try_at = null, acknowledged_at = created_at where created_at < ${after(-days(30), madeAt)}`)
  await db.rows(sql`
    update messages set state = 'sent', next_try_at = null, sent_at = created_at, ended_at = created_at
    where created_at < ${after(-days(30), madeAt)}`)
  const redact = createRedaction(db, 31, { redacted() {}, leftOut })
  assert.equal(await redact(madeAt), 1)
}

const refund = (id: string, amount: bigint) => ({ id, amount, words: 'Returned goods', at: madeAt })
const dispute = (state: 'open' | 'won' | 'lost') => ({
  id: `D-${state}`,
  state,
  amount: 2500n,
  words: 'Not received',
  due_at: after(days(7), madeAt),
})

// Refunds, whole and in part, and disputes in each state.
async function addMoneyBack(shop: TestShop, merchant: TestMerchant) {
  for (const [invoice, more] of [
    ['REFUNDED-1', { reversals: [refund('R-1', 2500n)] }],
    ['REFUNDED-2', { reversals: [refund('R-2', 500n), refund('R-3', 700n)] }],
    ['DISPUTE-OPEN-1', { disputes: [dispute('open')] }],
    ['DISPUTE-WON-1', { disputes: [dispute('won')] }],
    ['DISPUTE-LOST-1', { disputes: [dispute('lost')] }],
  ] as const) {
    const payment = await shop.try(await ask(shop, merchant, invoice), yes)
    await shop.db.rows(sql`
      update attempts set check_reversals = true where tx_reference = ${payment.tx_reference}`)
    await shop.hear(payment, { ...yes, ...more })
  }
}

const ofInvoice = (invoice: string) => sql`
  tx_reference = (select p.tx_reference from payments p where p.invoice_id = ${invoice})`

// A delivery of each state. That of PAID-1 stays due.
async function setDeliveries({ db }: TestShop) {
  const lastTry = sql`tries = 2, last_try = 2, last_try_at = ${madeAt}, last_ms = 12, last_address = '127.0.0.1'`
  await db.rows(sql`update deliveries set ${lastTry}, last_status = 200, last_result = 'acknowledged', last_words = '',
    last_answer = 'ok', next_try_at = null, acknowledged_at = ${madeAt} where ${ofInvoice('PAID-2')}`)
  await db.rows(sql`update deliveries set ${lastTry}, last_status = 500, last_result = 'refused', last_words = 'HTTP 500',
    retry = true, next_try_at = ${after(hours(1), madeAt)} where ${ofInvoice('PAID-3')}`)
  await db.rows(sql`update deliveries set ${lastTry}, last_status = 500, last_result = 'refused', last_words = 'HTTP 500',
    next_try_at = null, exhausted_at = ${madeAt} where ${ofInvoice('PAID-4')}`)
  await db.rows(
    sql`update deliveries set parked = true, next_try_at = ${after(hours(1), madeAt)} where ${ofInvoice('PAID-5')}`,
  )
  await db.rows(sql`update deliveries set tries = 1, lease_token = 'n12-lease', lease_until = ${after(hours(1), madeAt)}
    where ${ofInvoice('PAID-6')}`)
  await db.rows(sql`insert into tries (merchant_id, tx_reference, sequence, try, started_at, ms, address, status, result,
      words, answer)
    select merchant_id, tx_reference, sequence, 1, created_at, 40, '127.0.0.1', 500, 'refused', 'HTTP 500', 'no'
    from deliveries where last_try = 2`)
  const merchant_id =
    (await db.one<Payment>(sql`select * from payments where ${ofInvoice('PAID-1')}`))?.merchant_id ?? ''
  const counts = { merchant_id, mode: 'test', origin: shopUrl, path: 'a1b2c3d4', hour: madeAt } as const
  await addAcknowledgements(db, [{ ...counts, paid: 3, acknowledged: 5 }])
  await numberFeed(db, { merchant_id, mode: 'test' }, after(-days(30), madeAt), 5)
}

async function setMessages({ db }: TestShop) {
  const states = [
    sql`state = 'sent', tries = 1, next_try_at = null, sent_at = ${madeAt}, messenger = 'smtp', provider_ref = 'M-1'`,
    sql`state = 'delivered', tries = 1, next_try_at = null, sent_at = ${madeAt}, ended_at = ${madeAt}, messenger = 'smpp'`,
    sql`state = 'dropped', words = 'no such number', tries = 3, next_try_at = null, ended_at = ${madeAt}`,
    sql`tries = 1, unanswered = 1, lease_token = 'lease', sent_at = ${madeAt}`,
  ]
  for (const [at, state] of states.entries())
    await db.rows(sql`
      update messages set ${state} where message_id = (
        select message_id from messages where state = 'queued' and tries = 0 order by message_id offset ${at} limit 1)`)
}

// Stored accounts: the operator's and a merchant's, test and live, enabled and disabled; their business, health and token.
async function addProviderAccounts({ db }: TestShop, { merchant_id }: TestMerchant) {
  const desk = { providers: await loadProviders(), tools: exampleTools, masterKeys }
  for (const [mode, owner, disabled] of [
    ['test', null, false],
    ['live', merchant_id, false],
    ['live', null, true],
  ] as const) {
    const identity = newIdentity({ provider: 'paystack', mode, merchant_id: owner })
    const prepared = prepareAccount(desk, identity, {}, [['secret_key', `sk_${mode}_${'0'.repeat(32)}`]])
    assert.ok(!prepared.faults, prepared.faults?.join('; '))
    await addAccount(db, identity, prepared, disabled ? 'The old one' : null, madeAt)
    const row = (await findAccount(db, identity.account)) as StoredAccount
    if (disabled) await saveAccountChange(db, row, { disabled_at: madeAt }, after(1000, madeAt))
    const { account } = identity
    await addBusiness(
      db,
      { account, credentialsDigest: `digest of ${mode}`, business: `${mode}business` },
      madeAt,
    )
    await db.rows(sql`
      insert into provider_health (node, provider_account, payment_method, answered, late, unanswered, paid, declined, troubled,
        delays, breaker, answered_at, unknown_codes, written_at)
      values ('n1', ${account}, 'card', 9, 1, 2, 5, 3, 1, '{5,4}', ${disabled ? 'open' : 'closed'}, ${madeAt}, '[]',
        ${madeAt})`)
    const holder = { provider_account: account, settings: 'digest' }
    const claim = { maker: 'n1', formerMadeAt: null, now: madeAt, until: after(minutes(1), madeAt) }
    await claimToken(db, holder, claim)
    const token = { maker: 'n1', token: 'secret token', now: madeAt, expires_at: after(hours(1), madeAt) }
    if (!disabled) await saveToken(db, masterKeys, holder, token)
  }
}

async function addRefused({ db }: TestShop, { merchant_id }: TestMerchant) {
  const mode = 'test'
  await addRefusedRequests(db, [
    {
      merchant_id,
      mode,
      request_id: 'req_0123456789abcdef',
      refused_at: madeAt,
      method: 'POST',
      path: '/v1/mobile_agents_v2',
      http: 400,
      code: 'GW-012',
      field: 'total',
      message: 'total: must be text or a number',
      hint: null,
      fields: { invoice_id: 'REFUSED-1' },
    },
  ])
  const day = madeAt.toISOString().slice(0, 10)
  await addRefusedCounts(db, [{ merchant_id, mode, day, code: 'GW-012', refused: 1 }])
}

async function addInstallation({ db }: TestShop) {
  const { supportToken } = await installationSecrets(db, masterKeys, madeAt)
  await makeSupportLink(db, operatorKeys(supportToken, undefined), 'https://pay.example', madeAt)
}
