import { setTimeout as sleep } from 'node:timers/promises'
import { SpanKind } from '@opentelemetry/api'
import { queueExhaustedNotice } from '../../actions/messages/queueMessages.ts'
import type { Pause } from '../../core/databaseClock.ts'
import { Locked } from '../../core/interface/refusal.ts'
import type { Mode } from '../../core/mode.ts'
import {
  type HttpOutcome,
  ipnRequest,
  needsPassword,
  resultOf,
  type Signer,
} from '../../core/notification/delivery.ts'
import { notificationId } from '../../core/notification/notification.ts'
import { nextTryAt, retryAfterMs, tryDeadlineMs } from '../../core/notification/schedule.ts'
import { cleanText } from '../../core/text.ts'
import { isTraced, markFailed } from '../../core/traces.ts'
import { wasSent } from '../../net/connection.ts'
import type { Outbound } from '../../net/outbound.ts'
import { createBatcher } from '../../runtime/batcher.ts'
import type { PaymentTraces } from '../../runtime/paymentTraces.ts'
import type { Db, Tx } from '../../store/db.ts'
import type { MerchantSigner } from '../../store/merchants/signers.ts'
import {
  amongUnlocked,
  type DeliveryOutcome,
  exhaustedOf,
  type LeasedDelivery,
  saveAcknowledged,
  saveAcknowledgedOptimistically,
  saveOutcomes,
} from '../../store/notifications/deliveries.ts'
import { addTries, moveLastTries } from '../../store/notifications/tries.ts'
import { takeOptimistically, takeUnlocked } from '../../store/skipLocked.ts'
import type { Leases } from '../node.ts'
import type { SignerCache } from './signerCache.ts'

// One try of a delivery: the request to the merchant's server, and the commit of its result.

export type TryOptions = {
  signers: SignerCache
  outbound: Outbound
  loopback(mode: Mode): boolean // whether loopback addresses may be notified
  clock(): Date
  pause?: Pause
  leases?: Leases
  random(): number
  traces?: PaymentTraces
}

export type FinishedTry = {
  mode: Mode
  outcome: DeliveryOutcome
  contact_email: string | null
  first_byte_at: Date | null
  passwordWithheld: boolean
}

const maxErrorText = 300

// Sends one try of a leased delivery, outside any transaction. Returns undefined if nothing was sent because too little
// is left of the lease, or because the clock is not reliable. Returns `lease_uncertain` if nothing was sent because
// another node may have ended the lease.
export async function sendTry(
  options: TryOptions,
  delivery: LeasedDelivery,
): Promise<FinishedTry | 'lease_uncertain' | undefined> {
  const { merchant_id, mode } = delivery
  const cached = options.signers.find(merchant_id, mode)
  const signer = cached instanceof Promise ? await cached : cached
  // A merchant with a secret never gets an unsigned request. The delivery is tried again when its lease has ended.
  if (signer?.sealed !== undefined)
    throw new Error(`Notifications of merchant ${merchant_id} cannot be signed: ${String(signer.sealed)}`)
  if (signer && needsPassword(delivery, signer) && signer.password === undefined)
    throw new Error(`The password of notifications of merchant ${merchant_id} cannot be decrypted.`)
  for (;;) {
    const result = await sendWithLease(options, delivery, signer)
    if (result !== 'check_again') return result
  }
}

// `check_again`: the lease became uncertain after the check, before the first byte. Nothing was sent.
async function sendWithLease(
  { signers, outbound, loopback, clock, pause, leases, random, traces }: TryOptions,
  delivery: LeasedDelivery,
  signer: MerchantSigner | undefined,
): Promise<FinishedTry | undefined | 'lease_uncertain' | 'check_again'> {
  const maySend = () => leases?.isOurs(delivery.lease_token) ?? true
  if (!maySend() && !(await leases?.confirm(delivery.lease_token))) return 'lease_uncertain'
  const started = clock()
  if (pause?.()) return undefined
  if (delivery.lease_until.getTime() - started.getTime() < tryDeadlineMs) return undefined
  const { method, url, headers, body } = ipnRequest(delivery, signer ?? noSigner, started)
  const passwordWithheld =
    delivery.style === 'basic' && signer !== undefined && !needsPassword(delivery, signer)
  const lane = delivery.merchant_id // connections are kept by merchant and origin
  const allowLoopback = loopback(delivery.mode)
  const answer = await inTrySpan(traces, delivery, method, () =>
    outbound.send({ method, url, headers, body, lane, allowLoopback, maySend }),
  )
  if (!wasSent(answer) && !maySend()) return 'check_again'
  if (signer && wasSent(answer)) for (const id of signer.secret_ids) signers.used?.add(id, signer.merchant_id)
  return {
    mode: delivery.mode,
    outcome: outcomeOf(delivery, answer, started, clock(), random(), passwordWithheld ? withheldText : ''),
    contact_email: signer?.contact_email ?? null,
    first_byte_at: answer.first_byte_ms === null ? null : new Date(started.getTime() + answer.first_byte_ms),
    passwordWithheld,
  }
}

// The headers have no trace context: a try repeats the bytes of the one before, and the trace is of no use to merchants, who
// cannot read it.
const inTrySpan = (
  traces: PaymentTraces | undefined,
  delivery: LeasedDelivery,
  method: string,
  send: () => Promise<HttpOutcome>,
): Promise<HttpOutcome> =>
  traces && isTraced()
    ? traces.inPayment(
        delivery,
        `notification ${method}`,
        {
          kind: SpanKind.CLIENT,
          attributes: {
            'http.request.method': method,
            'http.request.resend_count': delivery.tries - 1,
            'server.address': new URL(delivery.url).hostname,
            'tollgate.notification_status': delivery.status,
          },
        },
        async span => {
          const outcome = await send()
          const result = resultOf(outcome)
          if (outcome.status !== null) span.setAttribute('http.response.status_code', outcome.status)
          if (result !== 'acknowledged') markFailed(span, result)
          return outcome
        },
      )
    : send()

const noSigner: Signer = { keys: [], merchant_key: '', passwordOrigins: [] }
const withheldText = 'sent without the password: the address is not on an origin of the merchant'

function outcomeOf(
  delivery: LeasedDelivery,
  answer: HttpOutcome,
  started_at: Date,
  now: Date,
  random: number,
  note: string,
): DeliveryOutcome {
  const { status, retry_after } = answer
  const result = resultOf(answer)
  const acknowledged = result === 'acknowledged'
  const retryAfter = status === 429 || status === 503 ? retryAfterMs(retry_after, now) : 0
  const sinceStart = retryAfter && retryAfter + now.getTime() - started_at.getTime()
  const next_try_at = acknowledged ? null : nextTryAt(delivery.begun_at, started_at, random, sinceStart)
  return {
    merchant_id: delivery.merchant_id,
    tx_reference: delivery.tx_reference,
    sequence: delivery.sequence,
    lease_token: delivery.lease_token,
    next_try_at,
    acknowledged_at: acknowledged ? now : null,
    exhausted_at: acknowledged || next_try_at ? null : now,
    try: delivery.tries,
    started_at,
    ms: Math.round(answer.ms),
    address: answer.address,
    status,
    result,
    words: [note, cleanText(answer.error, maxErrorText)].filter(Boolean).join('; '), // may quote a certificate
    answer: answer.body,
  }
}

const maxInOneCommit = 256
const maxQueued = 5000
const firstWaitMs = 5 // most rows are locked for a moment only, by a worker that takes a sibling
const longestWaitMs = 500
const giveUpMs = 10_000 // by then the server has ended a transaction that holds the lock, and the lease is almost over

export type TriesLog = { add(finished: FinishedTry): Promise<void> }

// Saves the results of tries: all that ended during one commit share the next one. A locked row does not delay the results
// of other rows. If a result is lost, the notification is sent again with the same id and bytes.
export function createTriesLog(db: Db): TriesLog {
  const batches = createBatcher<FinishedTry, boolean>({
    run: async tries => {
      const plain = tries.filter(isPlain)
      const others = plain.length < tries.length ? tries.filter(one => !isPlain(one)) : []
      const saved = new Set<FinishedTry>()
      if (plain.length > 0) for (const one of await savePlain(db, plain)) saved.add(one)
      if (others.length > 0) for (const one of await saveOthers(db, others)) saved.add(one)
      return tries.map(one => saved.has(one))
    },
    maxRows: maxInOneCommit,
    maxInFlight: 1,
    maxQueued,
  })
  return {
    async add(finished) {
      const until = performance.now() + giveUpMs
      for (
        let waitMs = firstWaitMs;
        !(await batches.add(finished));
        waitMs = Math.min(waitMs * 2, longestWaitMs)
      ) {
        if (performance.now() > until) throw new Locked('the row of the delivery is locked for too long')
        await sleep(waitMs)
      }
    },
  }
}

// An acknowledged first try, which is the usual case. It needs one statement, which is its own commit.
const isPlain = ({ outcome }: FinishedTry) =>
  outcome.try === 1 && outcome.acknowledged_at !== null && outcome.words === ''

const keyOf = ({ outcome }: FinishedTry) => outcome

const savePlain = (db: Db, tries: readonly FinishedTry[]) =>
  takeOptimistically(db, {
    optimistic: tx => savePlainBy(tx, saveAcknowledgedOptimistically, tries),
    ...amongUnlocked(tries, keyOf, (tx, some) => savePlainBy(tx, saveAcknowledged, some)),
  })

async function savePlainBy(
  tx: Tx,
  save: typeof saveAcknowledged,
  tries: readonly FinishedTry[],
): Promise<readonly FinishedTry[]> {
  const outcomes = tries.map(keyOf)
  if ((await save(tx, outcomes)) < outcomes.length) await addTries(tx, outcomes)
  return tries
}

const saveOthers = (db: Db, tries: readonly FinishedTry[]) =>
  takeUnlocked(db, amongUnlocked(tries, keyOf, saveOthersIn))

async function saveOthersIn(tx: Tx, tries: readonly FinishedTry[]): Promise<readonly FinishedTry[]> {
  const outcomes = tries.map(keyOf)
  const retries = outcomes.filter(outcome => outcome.try > 1)
  if (retries.length > 0) await moveLastTries(tx, retries)
  if ((await saveOutcomes(tx, outcomes)) < outcomes.length) await addTries(tx, outcomes)
  await queueExhaustedNotices(tx, tries)
  return tries
}

// Only for deliveries that are exhausted according to their row: another worker may have changed it.
async function queueExhaustedNotices(tx: Tx, tries: readonly FinishedTry[]) {
  const last = tries.filter(({ outcome, contact_email }) => outcome.exhausted_at && contact_email)
  if (last.length === 0) return
  const exhausted = new Set((await exhaustedOf(tx, last.map(keyOf))).map(notificationId))
  for (const { outcome, mode, contact_email } of last)
    if (outcome.exhausted_at && contact_email && exhausted.has(notificationId(outcome)))
      await queueExhaustedNotice(tx, outcome.merchant_id, mode, contact_email, outcome.exhausted_at)
}
