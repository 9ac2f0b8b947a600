import { type Answer, type Result, resultOf } from '../core/delivery.ts'
import { ipnRequest } from '../core/ipnRequest.ts'
import { nextTry, retryAfterMs } from '../core/schedule.ts'
import type { Outbound } from '../net/outbound.ts'
import type { Outcome, Taken } from '../store/deliveries.ts'
import type { Try } from '../store/tries.ts'
import type { Mode } from '../core/payment.ts'
import type { Signers } from './signers.ts'

export type Sending = {
  signers: Signers
  outbound: Outbound
  loopback(mode: Mode): boolean // whether addresses of this machine may be notified
  clock(): Date
  random(): number
}

export type Tried = {
  mode: Mode
  outcome: Outcome
  log: Try
  contact_email: string | null
  first_byte_at: Date | null
}

const deadlineMs = 10_000 // of outbound requests

// One try of a delivery that was taken, outside any transaction. Undefined when so much time has passed since that
// another worker may have it by now: then nothing is sent.
export async function sendTry(sending: Sending, taken: Taken): Promise<Tried | undefined> {
  const { signers, outbound, loopback, clock, random } = sending
  const signer = await signers.find(taken.merchant_id, taken.mode)
  const started = clock()
  if (taken.lease_until.getTime() - started.getTime() < deadlineMs) return undefined
  const request = ipnRequest(taken, signer ?? { secrets: [], merchant_key: '' }, started)
  const lane = taken.merchant_id // with the origin of the url, which connections are kept by
  const answer = await outbound.send({ ...request, lane, allowLoopback: loopback(taken.mode) })
  const result = resultOf(answer)
  return {
    mode: taken.mode,
    outcome: outcomeOf(taken, answer, result, started, clock(), random()),
    log: logOf(taken, answer, result, started),
    contact_email: signer?.contact_email ?? null,
    first_byte_at: answer.first_byte_ms === null ? null : new Date(started.getTime() + answer.first_byte_ms),
  }
}

function outcomeOf(
  { merchant_id, tx_reference, sequence, lease_token, begun_at }: Taken,
  { status, retry_after }: Answer,
  result: Result,
  started_at: Date,
  now: Date,
  random: number,
): Outcome {
  const asked = status === 429 || status === 503 ? retryAfterMs(retry_after, now) : 0
  const askedForMs = asked && asked + now.getTime() - started_at.getTime()
  const acknowledged = result === 'acknowledged'
  const next_try_at = acknowledged ? null : nextTry(begun_at, started_at, random, askedForMs)
  return {
    merchant_id,
    tx_reference,
    sequence,
    lease_token,
    started_at,
    result,
    next_try_at,
    acknowledged_at: acknowledged ? now : null,
    exhausted_at: acknowledged || next_try_at ? null : now,
  }
}

function logOf(
  { merchant_id, tx_reference, sequence, tries }: Taken,
  { ms, address, status, words, body }: Answer,
  result: Result,
  started_at: Date,
): Try {
  return {
    merchant_id,
    tx_reference,
    sequence,
    try: tries,
    started_at,
    ms: Math.round(ms),
    address,
    status,
    result,
    words,
    answer: body,
  }
}
