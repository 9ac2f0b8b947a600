import type { Attempt } from '../../core/payment/attempt.ts'
import { named, type Tx } from '../db.ts'
import { ofMerchants, statementPart } from '../groupStatement.ts'
import { type PaymentKey, unnestPaymentKeys } from './paymentKeys.ts'

type Instants =
  | 'acknowledged_at'
  | 'resent_at'
  | 'returned_at'
  | 'gave_up_at'
  | 'submitted_at'
  | 'declined_at'
  | 'provider_time'
  | 'next_poll_at'
  | 'created_at'
  | 'updated_at'
  | 'ended_at'
type Amounts = 'charged' | 'fee' | 'net'
export type AttemptInJson = Omit<Attempt, Instants | Amounts> &
  Record<Instants, string | null> &
  Record<Amounts, number | null>

// JSON has neither instants nor 64-bit integers. Amounts fit a double: sanitizeReply.ts refuses larger ones.
export const attemptOfJson = (row: AttemptInJson): Attempt => ({
  ...row,
  charged: amount(row.charged),
  fee: amount(row.fee),
  net: amount(row.net),
  submitted_at: instant(row.submitted_at),
  declined_at: instant(row.declined_at),
  provider_time: instant(row.provider_time),
  acknowledged_at: instant(row.acknowledged_at),
  resent_at: instant(row.resent_at),
  returned_at: instant(row.returned_at),
  gave_up_at: instant(row.gave_up_at),
  next_poll_at: instant(row.next_poll_at),
  created_at: new Date(row.created_at as string),
  updated_at: new Date(row.updated_at as string),
  ended_at: instant(row.ended_at),
})

const amount = (minor: number | null) => (minor === null ? null : BigInt(minor))
const instant = (text: string | null) => (text === null ? null : new Date(text))

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

// Everything that a provider's reply can change. `polls` is counted where the attempt is claimed, `sends` where the order
// is sent. `next_poll_at` changes only with the reply to the latest question, which also ends its lease and its callback.
// A reply to an older question leaves all three to the newer one.
export const saveAttempts = (all: readonly Attempt[]) => statementPart('replied')`
  update attempts a set state = c.state, reason = c.reason, instrument = c.instrument, given = c.given,
    provider_ref = c.provider_ref, redirect_url = c.redirect_url, qr = c.qr, step = c.step,
    provider_text = c.provider_text, provider_time = c.provider_time, charged = c.charged, fee = c.fee, net = c.net,
    card_type = c.card_type, psp_response_code = c.psp_response_code, psp_response_msg = c.psp_response_msg,
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
      ${all.map(a => a.fee)}::bigint[], ${all.map(a => a.net)}::bigint[],
      ${all.map(a => a.card_type)}::text[], ${all.map(a => a.psp_response_code)}::text[],
      ${all.map(a => a.psp_response_msg)}::text[], ${all.map(a => a.provider_code)}::text[],
      ${all.map(a => a.declined_at)}::timestamptz[], ${all.map(a => a.acknowledged_at)}::timestamptz[],
      ${all.map(a => a.next_poll_at)}::timestamptz[], ${all.map(a => a.updated_at)}::timestamptz[],
      ${all.map(a => a.ended_at)}::timestamptz[])
    as c (merchant_id, attempt_id, state, reason, instrument, given, provider_ref, redirect_url, qr, step,
      provider_text, provider_time, charged, fee, net, card_type, psp_response_code, psp_response_msg, provider_code, declined_at,
      acknowledged_at, next_poll_at, updated_at, ended_at)
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
// that the reply to an older question does not count as the reply to what is sent now.
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
