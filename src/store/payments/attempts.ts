import type { Attempt } from '../../core/payment/attempt.ts'
import { named, type Tx } from '../db.ts'
import { ofMerchants, statementPart } from '../groupStatement.ts'
import { type PaymentKey, unnestPaymentKeys } from './paymentKeys.ts'

const instants = [
  'acknowledged_at',
  'resent_at',
  'returned_at',
  'gave_up_at',
  'submitted_at',
  'declined_at',
  'provider_time',
  'next_poll_at',
  'created_at',
  'updated_at',
  'ended_at',
] as const
const amounts = ['charged', 'fee', 'net'] as const
type Instant = (typeof instants)[number]
type Amount = (typeof amounts)[number]
export type AttemptInJson = Omit<Attempt, Instant | Amount> &
  Record<Instant, string | null> &
  Record<Amount, number | null>

// JSON has neither instants nor 64-bit integers. Amounts fit a double: sanitizeReply.ts refuses larger ones.
export function attemptOfJson(row: AttemptInJson): Attempt {
  const attempt: Record<string, unknown> = { ...row }
  for (const name of instants) attempt[name] = row[name] === null ? null : new Date(row[name])
  for (const name of amounts) attempt[name] = row[name] === null ? null : BigInt(row[name])
  return attempt as Attempt
}

export const insertAttempts = (all: readonly Attempt[]) => statementPart('begun')`
  insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, mode, account_identity,
    idempotency_key, payment_method, state, instrument, payer, lang, given, next_poll_at, created_at, updated_at)
  select * from unnest(${all.map(a => a.merchant_id)}::text[], ${all.map(a => a.attempt_id)}::text[],
    ${all.map(a => a.tx_reference)}::text[], ${all.map(a => a.number)}::integer[],
    ${all.map(a => a.provider_account)}::text[], ${all.map(a => a.mode)}::text[], ${all.map(a => a.account_identity)}::text[],
    ${all.map(a => a.idempotency_key)}::text[],
    ${all.map(a => a.payment_method)}::text[], ${all.map(a => a.state)}::text[], ${all.map(a => a.instrument)}::text[], ${all.map(a => a.payer)}::text[],
    ${all.map(a => a.lang)}::text[], ${all.map(a => JSON.stringify(a.given))}::jsonb[],
    ${all.map(a => a.next_poll_at)}::timestamptz[], ${all.map(a => a.created_at)}::timestamptz[],
    ${all.map(a => a.updated_at)}::timestamptz[])`

// Everything that a provider's reply can change. `polls` is counted when the attempt is claimed, `sends` when the order is
// sent. `next_poll_at` changes only with the reply to the latest poll, which also ends its lease and its callback. The reply
// to an older poll changes none of the three.
export const saveAttempts = (all: readonly Attempt[]) => statementPart('replied')`
  update attempts a set state = c.state, reason = c.reason, instrument = c.instrument, given = c.given,
    provider_ref = c.provider_ref, redirect_url = c.redirect_url, qr = c.qr, step = c.step,
    provider_text = c.provider_text, provider_time = c.provider_time, charged = c.charged,
    charged_currency = c.charged_currency, fee = c.fee, net = c.net, card_type = c.card_type,
    psp_response_code = c.psp_response_code, psp_response_msg = c.psp_response_msg,
    provider_code = c.provider_code, declined_at = c.declined_at,
    lease_until = case when a.next_poll_at = c.next_poll_at then a.lease_until end,
    callback_received = a.callback_received and coalesce(a.next_poll_at = c.next_poll_at, false),
    acknowledged_at = c.acknowledged_at, next_poll_at = c.next_poll_at, updated_at = c.updated_at,
    ended_at = c.ended_at
  from unnest(${all.map(a => a.merchant_id)}::text[], ${all.map(a => a.attempt_id)}::text[],
      ${all.map(a => a.state)}::text[], ${all.map(a => a.reason)}::text[], ${all.map(a => a.instrument)}::text[],
      ${all.map(a => JSON.stringify(a.given))}::jsonb[], ${all.map(a => a.provider_ref)}::text[],
      ${all.map(a => a.redirect_url)}::text[], ${all.map(a => a.qr)}::text[],
      ${all.map(a => a.step && JSON.stringify(a.step))}::jsonb[], ${all.map(a => a.provider_text)}::text[],
      ${all.map(a => a.provider_time)}::timestamptz[], ${all.map(a => a.charged)}::bigint[],
      ${all.map(a => a.charged_currency)}::text[], ${all.map(a => a.fee)}::bigint[], ${all.map(a => a.net)}::bigint[],
      ${all.map(a => a.card_type)}::text[], ${all.map(a => a.psp_response_code)}::text[],
      ${all.map(a => a.psp_response_msg)}::text[], ${all.map(a => a.provider_code)}::text[],
      ${all.map(a => a.declined_at)}::timestamptz[], ${all.map(a => a.acknowledged_at)}::timestamptz[],
      ${all.map(a => a.next_poll_at)}::timestamptz[], ${all.map(a => a.updated_at)}::timestamptz[],
      ${all.map(a => a.ended_at)}::timestamptz[])
    as c (merchant_id, attempt_id, state, reason, instrument, given, provider_ref, redirect_url, qr, step,
      provider_text, provider_time, charged, charged_currency, fee, net, card_type, psp_response_code, psp_response_msg,
      provider_code, declined_at, acknowledged_at, next_poll_at, updated_at, ended_at)
  where a.merchant_id = c.merchant_id and a.attempt_id = c.attempt_id and ${ofMerchants('a', all)}`

// Before the order is sent to its provider again.
export const saveSendings = (all: readonly Attempt[]) => statementPart('resent')`
  update attempts a set state = c.state, sends = c.sends, resent_at = c.resent_at, updated_at = c.updated_at
  from unnest(${all.map(a => a.merchant_id)}::text[], ${all.map(a => a.attempt_id)}::text[],
      ${all.map(a => a.state)}::text[], ${all.map(a => a.sends)}::integer[],
      ${all.map(a => a.resent_at)}::timestamptz[], ${all.map(a => a.updated_at)}::timestamptz[])
    as c (merchant_id, attempt_id, state, sends, resent_at, updated_at)
  where a.merchant_id = c.merchant_id and a.attempt_id = c.attempt_id and ${ofMerchants('a', all)}`

// The customer submitted the input of a step, or gave the attempt up. The next poll is rescheduled and the lease ends, so
// that the reply to an older poll does not count as the reply to this one.
export const saveCustomerActs = (all: readonly Attempt[]) => statementPart('acted')`
  update attempts a set state = c.state, step = c.step, submits = c.submits, submitted_at = c.submitted_at,
    gave_up_at = c.gave_up_at, gave_up_for = c.gave_up_for, next_poll_at = c.next_poll_at, lease_until = null,
    updated_at = c.updated_at
  from unnest(${all.map(a => a.merchant_id)}::text[], ${all.map(a => a.attempt_id)}::text[],
      ${all.map(a => a.state)}::text[], ${all.map(a => a.step && JSON.stringify(a.step))}::jsonb[],
      ${all.map(a => a.submits)}::integer[], ${all.map(a => a.submitted_at)}::timestamptz[],
      ${all.map(a => a.gave_up_at)}::timestamptz[], ${all.map(a => a.gave_up_for)}::text[],
      ${all.map(a => a.next_poll_at)}::timestamptz[], ${all.map(a => a.updated_at)}::timestamptz[])
    as c (merchant_id, attempt_id, state, step, submits, submitted_at, gave_up_at, gave_up_for, next_poll_at,
      updated_at)
  where a.merchant_id = c.merchant_id and a.attempt_id = c.attempt_id and ${ofMerchants('a', all)}`

// In the order of their numbers.
export const attemptsOf = (tx: Tx, merchant_id: string, tx_reference: string) =>
  tx.rows<Attempt>(named('attempts_of')`
    select * from attempts where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
    order by number`)

export const attemptsOfMany = (tx: Tx, keys: readonly PaymentKey[]) =>
  tx.rows<Attempt>(named('attempts_of_many')`
    select a.* from ${unnestPaymentKeys(keys)}
      join attempts a on a.merchant_id = k.merchant_id and a.tx_reference = k.tx_reference
    where ${ofMerchants('a', keys)}
    order by a.number`)

export const lockAttempt = (tx: Tx, merchant_id: string, attempt_id: string) =>
  tx.one<Attempt>(named('lock_attempt')`
    select * from attempts where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} for update`)

// A provider's reference pays one attempt only: the attempt that holds it.
export type PaidReference = Pick<Attempt, 'merchant_id' | 'attempt_id'> & {
  account: string
  reference: string
}

// A reference that is held already violates the table's key, and with it everything written in the same statement.
export const holdReferences = (all: readonly PaidReference[]) => statementPart('held')`
  insert into paid_references (account, reference, merchant_id, attempt_id)
  select * from unnest(${all.map(r => r.account)}::text[], ${all.map(r => r.reference)}::text[],
    ${all.map(r => r.merchant_id)}::text[], ${all.map(r => r.attempt_id)}::text[])`

type ReferenceHolder = Pick<Attempt, 'merchant_id' | 'attempt_id'> & { name: string } // for operators

// Undefined if no committed attempt holds the reference.
export async function findReferenceHolder(
  tx: Tx,
  { account, reference }: Pick<PaidReference, 'account' | 'reference'>,
): Promise<ReferenceHolder | undefined> {
  const held = await tx.one<Omit<ReferenceHolder, 'name'>>(named('find_reference_holder')`
    select merchant_id, attempt_id from paid_references where account = ${account} and reference = ${reference}`)
  if (!held) return undefined
  const { merchant_id, attempt_id } = held
  const attempt = await tx.one<Pick<Attempt, 'tx_reference' | 'number'>>(named('name_of_attempt')`
    select tx_reference, number from attempts where merchant_id = ${merchant_id} and attempt_id = ${attempt_id}`)
  const name = attempt ? `attempt ${attempt.number} of ${attempt.tx_reference}` : 'a payment that was deleted'
  return { merchant_id, attempt_id, name }
}
