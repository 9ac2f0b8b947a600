import type { AddressRules } from '../../core/addressRules.ts'
import type { Actor } from '../../core/access/audit.ts'
import { testNotificationEntry } from '../../core/access/auditEntries.ts'
import { readMerchantSettings } from '../../core/merchant/settings.ts'
import type { Mode } from '../../core/mode.ts'
import {
  type HttpOutcome,
  type IpnRequest,
  ipnRequest,
  needsPassword,
  type Result,
  resultOf,
} from '../../core/notification/delivery.ts'
import { notificationId } from '../../core/notification/notification.ts'
import { shownAnswer, testNotificationBody } from '../../core/notification/testNotification.ts'
import { cleanText } from '../../core/text.ts'
import { newReference } from '../../runtime/ids.ts'
import type { RateLimits } from '../../runtime/rateLimits.ts'
import type { Db } from '../../store/db.ts'
import { findMerchant } from '../../store/merchants/merchants.ts'
import { findSigners } from '../../store/merchants/signers.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { audited } from '../access/audit.ts'

const maxErrorText = 300

// Sends a request to an address of a merchant, through the address guard. Never rejects.
export type SendToMerchant = (
  request: IpnRequest & { lane: string; allowLoopback: boolean },
) => Promise<HttpOutcome>

type TestDeps = {
  db: Db
  masterKeys: MasterKeys
  limits: Pick<RateLimits, 'mayTestEndpoint'>
  addressRules(mode: Mode): AddressRules
  send: SendToMerchant
}

export type TestedEndpoint = {
  id: string // the header webhook-id
  status: number | null
  result: Result
  ms: number
  error: string
  answer: string // the beginning of the body, without secrets and personal data
}

export type NotTested = 'no_address' | 'too_often' | 'secret_unreadable'

// Sends one test notification to the merchant's `ipn_url`, signed like a real one. It is about no payment, is not stored
// and not repeated, and does not count for the circuit breaker of the endpoint. The audit log has it before it is sent.
export async function testEndpoint(
  { db, masterKeys, limits, addressRules, send }: TestDeps,
  { merchant_id, mode, actor }: { merchant_id: string; mode: Mode; actor: Actor },
  now: Date,
): Promise<TestedEndpoint | NotTested> {
  const [merchant, signers] = await Promise.all([
    findMerchant(db, merchant_id),
    findSigners(db, masterKeys, [merchant_id], now),
  ])
  const settings = readMerchantSettings(merchant?.settings ?? {})
  const { ipn_url: url, ipn_style: style } = settings
  if (url === null) return 'no_address'
  const signer = signers.find(one => one.mode === mode) ?? noSigner
  if (signer.sealed !== undefined) return 'secret_unreadable'
  if (needsPassword({ style, url }, signer) && signer.password === undefined) return 'secret_unreadable'
  if (!limits.mayTestEndpoint(merchant_id)) return 'too_often'
  const key = { merchant_id, tx_reference: newReference(now), sequence: 1 }
  const id = notificationId(key)
  await audited(db, actor, now, (_tx, record) => record(testNotificationEntry(merchant_id, mode, id)))
  const body = testNotificationBody(key.tx_reference, settings)
  const request = ipnRequest({ ...key, url, style, tries: 1, body }, signer, now)
  const { allowLoopback } = addressRules(mode)
  const outcome = await send({ ...request, lane: merchant_id, allowLoopback })
  return {
    id,
    status: outcome.status,
    result: resultOf(outcome),
    ms: Math.round(outcome.ms),
    error: cleanText(outcome.error, maxErrorText),
    answer: shownAnswer(outcome.body),
  }
}

const noSigner = { keys: [], merchant_key: '', passwordOrigins: [], password: undefined, sealed: undefined }
