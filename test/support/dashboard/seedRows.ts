import { randomBytes } from 'node:crypto'
import { invite } from '../../../src/actions/access/invitations.ts'
import { resetLink } from '../../../src/actions/access/resetPassword.ts'
import { installationSecrets } from '../../../src/actions/installation/secrets.ts'
import { addHandover, handoverPath } from '../../../src/actions/merchants/keyHandover.ts'
import type { Actor } from '../../../src/core/access/audit.ts'
import { linkEnd, type UserLink, userLinkAddress } from '../../../src/core/access/userLink.ts'
import { newRefundReference, newTakenForm, newUserLinkId } from '../../../src/runtime/ids.ts'
import { addUserLink } from '../../../src/store/access/userLinks.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import { lockMerchant } from '../../../src/store/merchants/merchants.ts'
import { addApproval } from '../../../src/store/refunds/approvals.ts'
import type { TestGateway, TestMerchant } from '../gateway/gateway.ts'
import { post, signedRequest } from '../merchant/merchant.ts'
import { paidInvoice } from '../merchant/refunds.ts'
import { type DashboardClient, formTokenIn, signedIn } from './signedIn.ts'

// Rows for every parameter and every id of a form, at two merchants and at the operator.
export type MerchantRows = Awaited<ReturnType<typeof rowsOfMerchant>>
export type SeededRows = Awaited<ReturnType<typeof seedRows>>

const actor: Actor = { kind: 'command', id: 'test', address: 'test' }
const customer = { number: '+233240000001', email: 'kofi@mail.example' }
const change = () => ({ actor, by: 'Esi Adjei', now: new Date() })

export async function seedRows(gateway: TestGateway) {
  const { formKey } = await installationSecrets(gateway.db, gateway.masterKeys, new Date())
  const admin = await signedIn(gateway, { operator: 'admin' })
  const seed = async () => rowsOfMerchant(gateway, formKey, admin, await gateway.addMerchant())
  const [merchant, other] = [await seed(), await seed()]
  const staff = await signedIn(gateway, { operator: 'support', name: 'Yaw Mensah' })
  const grant = { merchant_id: null, operator_role: 'finance' } as const
  const invited = await invite(gateway.db, { email: 'abena@example.com', lang: 'en' }, grant, change())
  return {
    merchant,
    other,
    formKey,
    staff,
    invited: linkOf(invited),
    account: await addAccount(gateway, admin),
  }
}

const linkOf = (result: { link: UserLink } | string): UserLink => {
  if (typeof result === 'string') throw new Error(`not invited: ${result}`)
  return result.link
}

// Stored without a question to the provider.
async function addAccount({ url }: TestGateway, admin: DashboardClient) {
  const page = '/dashboard/operator/accounts/new?provider=paystack&mode=test'
  const html = await admin.html(page)
  const account = /name="account" value="([\w-]+)"/.exec(html)?.[1] ?? ''
  const secret = `sk_test_${randomBytes(20).toString('hex')}`
  const fields = { account, provider: 'paystack', mode: 'test', setting_secret_key: secret, unchecked: 'on' }
  await fetch(`${url}/dashboard/operator/accounts/new`, {
    method: 'POST',
    headers: { cookie: admin.cookie, accept: 'text/html', origin: url },
    body: new URLSearchParams({ ...fields, form_token: formTokenIn(html) }),
    redirect: 'manual',
  })
  return account
}

async function rowsOfMerchant(
  gateway: TestGateway,
  formKey: Buffer,
  admin: DashboardClient,
  merchant: TestMerchant,
) {
  const { db, url, masterKeys } = gateway
  const { merchant_id } = merchant
  const paid = await paidInvoice(url, merchant.test, customer)
  const unpaid = String((await post(url, signedRequest(merchant.test, customer))).body.tx_reference)
  const asker = await signedIn(gateway, { member: { merchant_id, role: 'accountant' }, name: 'Kofi Mensah' })
  const member = await signedIn(gateway, { member: { merchant_id, role: 'cashier' }, name: 'Efua Boateng' })
  const grant = { merchant_id, role: 'developer', outlets: null } as const
  const invited = await invite(db, { email: `${merchant_id}@example.com`, lang: 'en' }, grant, change())
  const handover = await db.transaction(async tx => {
    const locked = await lockMerchant(tx, merchant_id)
    if (!locked) throw new Error('no merchant')
    const { test, live } = merchant
    await addHandover(
      { tx, masterKeys, merchant: locked, user_id: admin.user_id, now: new Date() },
      { test, live },
    )
    return tx.one<{ merchant_id: string; handover_id: string }>(
      sql`select merchant_id, handover_id from key_handovers where merchant_id = ${merchant_id}`,
    )
  })
  if (!handover) throw new Error('no handover')
  const reset = await addReset(db, asker.user_id)
  const approval = await addWaiting(db, { merchant_id, ...paid, requester_id: asker.user_id })
  const refund = await addTroubles(gateway, { merchant_id, unpaid })
  const secret = await db.one<{ secret_id: string }>(
    sql`select secret_id from ipn_secrets where merchant_id = ${merchant_id} and mode = 'test'`,
  )
  return {
    merchant_id,
    name: merchant.name,
    keys: merchant.test,
    secret_id: secret?.secret_id ?? '',
    paid: paid.tx_reference,
    unpaid,
    approval,
    refund,
    member: member.user_id,
    invited: linkOf(invited),
    handover: handover.handover_id,
    handoverPath: handoverPath(formKey, handover),
    invitationPath: userLinkAddress(formKey, '', linkOf(invited)),
    resetPath: userLinkAddress(formKey, '', reset),
  }
}

// At the counter, as this user. Its reference.
export async function takePayment(merchant_id: string, user: DashboardClient): Promise<string> {
  const page = `/dashboard/m/${merchant_id}/test/take`
  const fields = { form_id: newTakenForm(), total: '35.00', currency: 'GHS' }
  const answer = await user.submit(page, page, fields)
  return answer.headers.get('location')?.split('/take/')[1] ?? 'nothing'
}

export async function addReset(db: Db, user_id: string) {
  const now = new Date()
  const named = { link_id: newUserLinkId(), user_id, email: `${user_id}@example.com`, invited_by: null }
  const link = resetLink(named, linkEnd.reset(now), now)
  await addUserLink(db, link)
  return link
}

type Waiting = { merchant_id: string; tx_reference: string; invoice_id: string; requester_id: string }

// A refund that waits for a second person.
export async function addWaiting(db: Db, waiting: Waiting) {
  const now = Date.now()
  const refund_reference = newRefundReference(waiting.merchant_id)
  const { merchant_id, tx_reference, invoice_id, requester_id } = waiting
  await addApproval(db, {
    merchant_id,
    refund_reference,
    mode: 'test',
    tx_reference,
    invoice_id,
    attempt_number: 1,
    source: 'payment',
    amount: 500n,
    currency: 'GHS',
    reason: 'The pot was broken.',
    requested_by: 'merchant',
    requester_id,
    state: 'waiting',
    decider_id: null,
    decision_reason: '',
    created_at: new Date(now),
    expires_at: new Date(now + 3_600_000),
    decided_at: null,
  })
  return refund_reference
}

// An attempt without an outcome, and the task about it.
export async function addTask(
  db: Db,
  { merchant_id, tx_reference }: { merchant_id: string; tx_reference: string },
) {
  const attempt_id = `${merchant_id}${tx_reference}`
  await db.rows(sql`
    insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, mode, payment_method, state,
      created_at, updated_at)
    values (${merchant_id}, ${attempt_id}, ${tx_reference}, 1, 'sandbox', 'test', 'card', 'unknown', now(), now())`)
  await db.rows(sql`
    insert into tasks (merchant_id, attempt_id, kind, tx_reference, amount, currency, note, created_at)
    values (${merchant_id}, ${attempt_id}, 'unresolved', ${tx_reference}, 2500, 'GHS',
      'The provider has reported no outcome.', date_trunc('milliseconds', now()))`)
  return attempt_id
}

// A task, a notification that fails, a message that was not sent, and a refund without an outcome.
async function addTroubles(
  { db }: TestGateway,
  { merchant_id, unpaid }: { merchant_id: string; unpaid: string },
) {
  const attempt_id = await addTask(db, { merchant_id, tx_reference: unpaid })
  await db.rows(sql`
    insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at, tries, retry,
      next_try_at, last_try, last_try_at, last_ms, last_status, last_result, last_words)
    values (${merchant_id}, ${unpaid}, 1, 'test', 'https://shop.akua.example/ipn', 'https://shop.akua.example:443', 'post',
      now(), now(), 3, true, now() + interval '1 day', 3, now(), 12, 503, 'server_error', '')`)
  await db.rows(sql`
    insert into messages (merchant_id, message_id, mode, medium, topic, recipient, lang, tx_reference, state, words, tries,
      created_at, ended_at)
    values (${merchant_id}, 'm1', 'test', 'sms', 'paid', '+233240000001', 'en', ${unpaid}, 'dropped',
      'the number cannot receive messages', 3, now(), now())`)
  return addUnknownRefund(db, { merchant_id, tx_reference: unpaid, attempt_id })
}

type Refunded = { merchant_id: string; tx_reference: string; attempt_id: string }

// A refund whose outcome only a person can find out.
export async function addUnknownRefund(db: Db, { merchant_id, tx_reference, attempt_id }: Refunded) {
  const refund = newRefundReference(merchant_id)
  await db.rows(sql`
    insert into refunds (merchant_id, refund_reference, mode, tx_reference, invoice_id, attempt_id, source, kind,
      provider_account, amount, currency, requested_by, state, state_reason, created_at, updated_at)
    values (${merchant_id}, ${refund}, 'test', ${tx_reference}, 'AM-2201', ${attempt_id}, 'payment', 'provider',
      'sandbox', 1000, 'GHS', 'operator', 'unknown', 'no answer in time', now(), now())`)
  return refund
}
