import type { Attempt } from '../../core/payment/attempt.ts'
import { named, sql, type Tx } from '../db.ts'

type Instants =
  | 'acknowledged_at'
  | 'resent_at'
  | 'returned_at'
  | 'gave_up_at'
  | 'next_ask_at'
  | 'created_at'
  | 'updated_at'
  | 'ended_at'
export type AttemptInJson = Omit<Attempt, Instants | 'charged'> &
  Record<Instants, string | null> & { charged: number | null }

// JSON has neither instants nor 64-bit numbers; what a provider can charge fits a double.
export const attemptOfJson = (row: AttemptInJson): Attempt => ({
  ...row,
  charged: row.charged === null ? null : BigInt(row.charged),
  acknowledged_at: instant(row.acknowledged_at),
  resent_at: instant(row.resent_at),
  returned_at: instant(row.returned_at),
  gave_up_at: instant(row.gave_up_at),
  next_ask_at: instant(row.next_ask_at),
  created_at: new Date(row.created_at as string),
  updated_at: new Date(row.updated_at as string),
  ended_at: instant(row.ended_at),
})

const instant = (text: string | null) => (text === null ? null : new Date(text))

export const insertAttempt = (tx: Tx, a: Attempt) =>
  tx.rows(named('insert_attempt')`
    insert into attempts (merchant_id, attempt_id, tx_reference, number, channel, payment_method, state,
      instrument, payer, lang, given, next_ask_at, created_at, updated_at)
    values (${a.merchant_id}, ${a.attempt_id}, ${a.tx_reference}, ${a.number}, ${a.channel}, ${a.payment_method},
      ${a.state}, ${a.instrument}, ${a.payer}, ${a.lang}, ${JSON.stringify(a.given)}, ${a.next_ask_at},
      ${a.created_at}, ${a.updated_at})`)

// Everything that changes in an attempt's life; what it is for never does. How often it was asked about is
// counted where it is claimed, how often it was sent where it is sent. When it is asked about next changes with an answer
// to the latest question alone: that ends the lease and the knock, too. Else both are somebody else's, who still waits.
export const saveAttempt = (tx: Tx, a: Attempt) =>
  tx.rows(named('save_attempt')`
    update attempts set state = ${a.state}, reason = ${a.reason}, instrument = ${a.instrument},
      given = ${JSON.stringify(a.given)}, provider_ref = ${a.provider_ref}, redirect_url = ${a.redirect_url},
      qr = ${a.qr}, charged = ${a.charged}, card_type = ${a.card_type},
      psp_response_code = ${a.psp_response_code}, psp_response_msg = ${a.psp_response_msg},
      lease_until = case when next_ask_at = ${a.next_ask_at} then lease_until end,
      knocked = knocked and coalesce(next_ask_at = ${a.next_ask_at}, false),
      acknowledged_at = ${a.acknowledged_at}, next_ask_at = ${a.next_ask_at}, updated_at = ${a.updated_at},
      ended_at = ${a.ended_at}
    where merchant_id = ${a.merchant_id} and attempt_id = ${a.attempt_id}`)

// Before it is handed to its channel once more.
export const saveSending = (tx: Tx, a: Attempt) =>
  tx.rows(sql`
    update attempts set state = ${a.state}, sends = ${a.sends}, resent_at = ${a.resent_at}, updated_at = ${a.updated_at}
    where merchant_id = ${a.merchant_id} and attempt_id = ${a.attempt_id}`)

// The wish of the customer. An answer to an older question is not taken for the one to what is asked now.
export const saveGivenUp = (tx: Tx, a: Attempt) =>
  tx.rows(sql`
    update attempts set gave_up_at = ${a.gave_up_at}, gave_up_for = ${a.gave_up_for},
      next_ask_at = ${a.next_ask_at}, lease_until = null, updated_at = ${a.updated_at}
    where merchant_id = ${a.merchant_id} and attempt_id = ${a.attempt_id}`)

// In the order in which they were made.
export const attemptsOf = (tx: Tx, merchant_id: string, tx_reference: string) =>
  tx.rows<Attempt>(named('attempts_of')`
    select * from attempts where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
    order by number`)

export const lockAttempt = (tx: Tx, merchant_id: string, attempt_id: string) =>
  tx.one<Attempt>(named('lock_attempt')`
    select * from attempts where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} for update`)

// Somebody knocked: ask now. False when there is no such attempt, or nothing left to learn about it. The time changes
// even when it is due already, so that an answer to an older question is not taken for the answer to this one.
export const promptAttempt = async (tx: Tx, merchant_id: string, attempt_id: string, now: Date) =>
  (await tx.one(named('prompt_attempt')`
    update attempts set knocked = true, lease_until = null, next_ask_at = least(${now}::timestamptz,
      (next_ask_at at time zone 'UTC' - interval '1 millisecond') at time zone 'UTC')
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and state <> 'paid'
    returning 1`)) !== undefined

// It could not be written down what was said of it: it is asked about again, but not as soon as its lease ends.
export const putOffAttempt = (tx: Tx, a: Attempt, next_ask_at: Date) =>
  tx.rows(sql`
    update attempts set next_ask_at = ${next_ask_at}, knocked = false, lease_until = null
    where merchant_id = ${a.merchant_id} and attempt_id = ${a.attempt_id} and asks = ${a.asks}
      and next_ask_at = ${a.next_ask_at}`)

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
