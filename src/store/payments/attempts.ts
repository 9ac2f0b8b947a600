import type { Attempt } from '../../core/payment/attempt.ts'
import { named, type Tx } from '../db.ts'
import { ofMerchants, statementPart } from '../groupStatement.ts'

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

// JSON has neither instants nor 64-bit integers. Amounts fit a double: `understand` refuses larger ones.
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

export const insertAttempt = (tx: Tx, attempt: Attempt) => tx.rows(insertAttempts([attempt]))

// Everything that changes in an attempt's life; what it is for never does. How often it was asked about is
// counted where it is claimed, how often it was sent where it is sent. When it is asked about next changes with an answer
// to the latest question alone: that ends the lease and the callback, too. Else both are somebody else's, who still waits.
export const saveAttempts = (all: readonly Attempt[]) => statementPart('heard')`
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

export const saveAttempt = (tx: Tx, attempt: Attempt) => tx.rows(saveAttempts([attempt]))

// Before it is handed to its provider once more.
export const saveSending = (tx: Tx, a: Attempt) =>
  tx.rows(named('save_sending')`
    update attempts set state = ${a.state}, sends = ${a.sends}, resent_at = ${a.resent_at}, updated_at = ${a.updated_at}
    where merchant_id = ${a.merchant_id} and attempt_id = ${a.attempt_id}`)

// Before what the customer typed is carried on. An answer to a question from before is not taken for what comes of it.
export const saveSubmitted = (tx: Tx, a: Attempt) =>
  tx.rows(named('save_submitted')`
    update attempts set state = ${a.state}, step = null, submits = ${a.submits}, submitted_at = ${a.submitted_at},
      next_poll_at = ${a.next_poll_at}, lease_until = null, updated_at = ${a.updated_at}
    where merchant_id = ${a.merchant_id} and attempt_id = ${a.attempt_id}`)

// The wish of the customer. An answer to an older question is not taken for the one to what is asked now.
export const saveGivenUp = (tx: Tx, a: Attempt) =>
  tx.rows(named('save_given_up')`
    update attempts set gave_up_at = ${a.gave_up_at}, gave_up_for = ${a.gave_up_for},
      next_poll_at = ${a.next_poll_at}, lease_until = null, updated_at = ${a.updated_at}
    where merchant_id = ${a.merchant_id} and attempt_id = ${a.attempt_id}`)

// In the order in which they were made.
export const attemptsOf = (tx: Tx, merchant_id: string, tx_reference: string) =>
  tx.rows<Attempt>(named('attempts_of')`
    select * from attempts where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
    order by number`)

export const lockAttempt = (tx: Tx, merchant_id: string, attempt_id: string) =>
  tx.one<Attempt>(named('lock_attempt')`
    select * from attempts where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} for update`)

// A callback came: poll now. False when there is no such attempt, or nothing left to learn about it. The time changes
// even when it is due already, so that an answer to an older question is not taken for the answer to this one.
export const promptAttempt = async (tx: Tx, merchant_id: string, attempt_id: string, now: Date) =>
  (await tx.one(named('prompt_attempt')`
    update attempts set callback_received = true, lease_until = null, next_poll_at = least(${now}::timestamptz,
      (next_poll_at at time zone 'UTC' - interval '1 millisecond') at time zone 'UTC')
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and state <> 'paid'
    returning 1`)) !== undefined

// It could not be written down what was said of it: it is asked about again, but not as soon as its lease ends.
export const postponeAttempt = (tx: Tx, a: Attempt, next_poll_at: Date) =>
  tx.rows(named('put_off_attempt')`
    update attempts set next_poll_at = ${next_poll_at}, callback_received = false, lease_until = null
    where merchant_id = ${a.merchant_id} and attempt_id = ${a.attempt_id} and polls = ${a.polls}
      and next_poll_at = ${a.next_poll_at}`)

// What is still on its way counts as a failure until it is paid, or a crowd of tries would slip through at once. What
// never left us has tried nothing.
// Where there are as many as may be, the moment of the one that has to grow old before another may be made.
export type Failures = { instrument: Date | null; payer: Date | null }

export const countFailures = async (
  tx: Tx,
  a: Pick<Attempt, 'merchant_id' | 'instrument' | 'payer'>,
  most: Record<keyof Failures, number>,
  since: Date,
): Promise<Failures> =>
  (await tx.one<Failures>(named('count_failures')`
    select
      (select created_at from attempts where merchant_id = ${a.merchant_id} and state <> 'paid'
        and instrument = ${a.instrument} and created_at > ${since} and reason is distinct from 'not_sent'
        order by created_at desc offset ${most.instrument - 1} limit 1) as instrument,
      (select created_at from attempts where merchant_id = ${a.merchant_id} and state <> 'paid'
        and payer = ${a.payer} and created_at > ${since} and reason is distinct from 'not_sent'
        order by created_at desc offset ${most.payer - 1} limit 1) as payer`)) as Failures
