import type { Pause } from '../../core/databaseClock.ts'
import type { Mode } from '../../core/mode.ts'
import { type HttpOutcome, resultOf } from '../../core/notification/delivery.ts'
import { ipnRequest, needsPassword, type Signer } from '../../core/notification/ipnRequest.ts'
import { nextTry, retryAfterMs, tryDeadlineMs } from '../../core/notification/schedule.ts'
import { cleanText } from '../../core/text.ts'
import { wasSent } from '../../net/connection.ts'
import type { Outbound } from '../../net/outbound.ts'
import type { MerchantSigner } from '../../store/merchants/signers.ts'
import type { Taken } from '../../store/notifications/deliveries.ts'
import type { Outcome } from '../../store/notifications/outcomes.ts'
import type { Leases } from '../nodes/node.ts'
import type { SignerCache } from './signerCache.ts'

export type Sending = {
  signers: SignerCache
  outbound: Outbound
  loopback(mode: Mode): boolean // whether addresses of this machine may be notified
  clock(): Date
  pause?: Pause
  leases?: Leases
  random(): number
}

export type Tried = {
  mode: Mode
  outcome: Outcome
  contact_email: string | null
  first_byte_at: Date | null
  passwordWithheld: boolean
}

const maxWords = 300

// One try of a delivery that was taken, outside any transaction. Undefined when so much time has passed since that
// another worker may have it by now, or when we do not know what time it is: then nothing is sent. Nor is it when we
// cannot be sure that the lease is ours.
export async function sendTry(sending: Sending, taken: Taken): Promise<Tried | 'unsure' | undefined> {
  const found = sending.signers.find(taken.merchant_id, taken.mode)
  const signer = found instanceof Promise ? await found : found
  // Nothing leaves unsigned where there is a secret: it is tried again when its lease is over.
  if (signer?.sealed !== undefined)
    throw new Error(
      `Notifications of merchant ${taken.merchant_id} cannot be signed: ${String(signer.sealed)}`,
    )
  if (signer && needsPassword(taken, signer) && signer.password === undefined)
    throw new Error(`The password of notifications of merchant ${taken.merchant_id} cannot be opened.`)
  for (;;) {
    const tried = await sendIfOurs(sending, taken, signer)
    if (tried !== 'doubtful') return tried
  }
}

// Doubtful: before its first byte could leave we were held up, and did not know any more whether it was ours.
async function sendIfOurs(
  { outbound, loopback, clock, pause, leases, random }: Sending,
  taken: Taken,
  signer: MerchantSigner | undefined,
): Promise<Tried | undefined | 'unsure' | 'doubtful'> {
  const maySend = () => leases?.isOurs(taken.lease_token) ?? true
  if (!maySend() && !(await leases?.confirm(taken.lease_token))) return 'unsure'
  const started = clock()
  if (pause?.()) return undefined
  if (taken.lease_until.getTime() - started.getTime() < tryDeadlineMs) return undefined
  const { method, url, headers, body } = ipnRequest(taken, signer ?? noSigner, started)
  const passwordWithheld = taken.style === 'basic' && signer !== undefined && !needsPassword(taken, signer)
  const lane = taken.merchant_id // with the origin of the url, which connections are kept by
  const allowLoopback = loopback(taken.mode)
  const answer = await outbound.send({ method, url, headers, body, lane, allowLoopback, maySend })
  if (!wasSent(answer) && !maySend()) return 'doubtful'
  return {
    mode: taken.mode,
    outcome: outcomeOf(taken, answer, started, clock(), random(), passwordWithheld ? withheldWords : ''),
    contact_email: signer?.contact_email ?? null,
    first_byte_at: answer.first_byte_ms === null ? null : new Date(started.getTime() + answer.first_byte_ms),
    passwordWithheld,
  }
}

const noSigner: Signer = { keys: [], merchant_key: '', passwordOrigins: [] }
const withheldWords = 'sent without the password: the address is not on an origin of the merchant'

function outcomeOf(
  taken: Taken,
  answer: HttpOutcome,
  started_at: Date,
  now: Date,
  random: number,
  note: string,
): Outcome {
  const { status, retry_after } = answer
  const result = resultOf(answer)
  const acknowledged = result === 'acknowledged'
  const asked = status === 429 || status === 503 ? retryAfterMs(retry_after, now) : 0
  const askedForMs = asked && asked + now.getTime() - started_at.getTime()
  const next_try_at = acknowledged ? null : nextTry(taken.begun_at, started_at, random, askedForMs)
  return {
    merchant_id: taken.merchant_id,
    tx_reference: taken.tx_reference,
    sequence: taken.sequence,
    lease_token: taken.lease_token,
    next_try_at,
    acknowledged_at: acknowledged ? now : null,
    exhausted_at: acknowledged || next_try_at ? null : now,
    try: taken.tries,
    started_at,
    ms: Math.round(answer.ms),
    address: answer.address,
    status,
    result,
    words: [note, cleanText(answer.words, maxWords)].filter(Boolean).join('; '), // a certificate may have anything in it
    answer: answer.body,
  }
}
