import type { Actor, AuditEntry } from '../../core/access/audit.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { referencePeriods } from '../../core/payment/reference.ts'
import { type Person, personPattern } from '../../core/redaction/redact.ts'
import type { Db } from '../../store/db.ts'
import { listMerchants } from '../../store/merchants/merchants.ts'
import { type PaymentKey, paymentName } from '../../store/payments/paymentKeys.ts'
import {
  oldestReference,
  paymentsByEmail,
  paymentsByNumber,
  paymentsByWallet,
  readPayments,
} from '../../store/payments/paymentSearch.ts'
import { scanPayments, scrubNotes } from '../../store/redaction/personTraces.ts'
import { audited, auditedDb } from '../access/audit.ts'
import { type ErasedPayment, erasePayments, type KeptBecause } from './redact.ts'

const maxListed = 50
const eraseAtOnce = 100
const scanAtOnce = 2000
const clockToleranceMs = 86_400_000 // references of a node whose clock was ahead

// The payments of a person, by number, wallet and email address, newest first.
export async function paymentsOfPerson(
  db: Db,
  { kind, value }: Person,
  now: Date,
  limit: number,
): Promise<PaymentKey[]> {
  const oldest = await oldestReference(db)
  if (oldest === undefined) return []
  const periods = referencePeriods(oldest, new Date(now.getTime() + clockToleranceMs))
  if (kind === 'email') return paymentsByEmail(db, value, { periods, limit })
  const merchants = (await listMerchants(db)).map(({ merchant_id }) => merchant_id)
  const found = [
    ...(await paymentsByNumber(db, value, { periods, limit })),
    ...(await paymentsByWallet(db, merchants, value, limit)),
  ]
  return [...new Map(found.map(key => [paymentName(key), key])).values()].slice(0, limit)
}

export type FoundPerson = { payments: Payment[]; more: boolean }

// Each search is recorded, without the number or address.
export async function findPerson(db: Db, person: Person, actor: Actor, now: Date): Promise<FoundPerson> {
  const keys = await paymentsOfPerson(db, person, now, maxListed + 1)
  await audited(db, actor, now, (_, record) => record(personEntry('person.find', person, keys.length)))
  const payments = keys.length > 0 ? await readPayments(db, keys.slice(0, maxListed)) : []
  return { payments, more: keys.length > maxListed }
}

// The audit log holds no number and no address: only which of the two was used, and how many payments it concerned.
export const personEntry = (
  action: 'person.find' | 'person.export' | 'person.erase',
  { kind }: Person,
  payments: number,
): AuditEntry => ({ merchant_id: null, action, subject: kind, before: null, after: { payments } })

// Where the erasure continues: first the payments that an index finds, then all payments of each merchant, whose texts may
// contain the number or address.
export type ErasePlace = 'indexed' | { merchant_id: string; behind: string }

export type KeptPayment = PaymentKey & { because: KeptBecause | 'busy' } // busy: locked by a worker at that moment
export type EraseStep = { erased: number; kept: KeptPayment[]; next: ErasePlace | undefined }

type Erasing = { person: Person; actor: Actor; now: Date }

// One bounded step: it may be repeated or continued at any time, by another process, too.
export async function eraseStep(db: Db, erasing: Erasing, place: ErasePlace): Promise<EraseStep> {
  return place === 'indexed' ? eraseIndexed(db, erasing) : scanMerchant(db, erasing, place)
}

// Erased payments are not found again; kept ones are, so they are counted on top.
async function eraseIndexed(db: Db, erasing: Erasing): Promise<EraseStep> {
  const { person, now } = erasing
  const tried = new Map<string, KeptPayment>()
  let erased = 0
  for (;;) {
    const found = await paymentsOfPerson(db, person, now, tried.size + eraseAtOnce)
    const keys = found.filter(key => !tried.has(paymentName(key)))
    if (keys.length === 0) break
    const step = await eraseKeys(db, erasing, keys)
    erased += step.erased
    for (const one of step.kept) tried.set(paymentName(one), one)
  }
  return { erased, kept: [...tried.values()], next: await nextMerchant(db, '') }
}

async function scanMerchant(
  db: Db,
  erasing: Erasing,
  { merchant_id, behind }: Exclude<ErasePlace, 'indexed'>,
): Promise<EraseStep> {
  const pattern = personPattern(erasing.person)
  const scanned = await scanPayments(db, merchant_id, pattern, behind, scanAtOnce)
  if (!scanned || scanned.last === null) {
    await db.transaction(tx => scrubNotes(tx, merchant_id, pattern))
    return { erased: 0, kept: [], next: await nextMerchant(db, merchant_id) }
  }
  const keys = scanned.found.map(tx_reference => ({ merchant_id, tx_reference }))
  const step = { erased: 0, kept: [] as KeptPayment[] }
  for (let at = 0; at < keys.length; at += eraseAtOnce) {
    const { erased, kept } = await eraseKeys(db, erasing, keys.slice(at, at + eraseAtOnce))
    step.erased += erased
    step.kept.push(...kept)
  }
  return { ...step, next: { merchant_id, behind: scanned.last } }
}

async function nextMerchant(db: Db, behind: string): Promise<ErasePlace | undefined> {
  const ids = (await listMerchants(db)).map(({ merchant_id }) => merchant_id).toSorted()
  const merchant_id = ids.find(id => id > behind)
  return merchant_id === undefined ? undefined : { merchant_id, behind: '' }
}

async function eraseKeys(db: Db, { person, actor, now }: Erasing, keys: readonly PaymentKey[]) {
  const recorded = auditedDb(db, actor, now, (results: readonly ErasedPayment[] | undefined) => {
    const erased = results?.filter(({ keptBecause }) => keptBecause === undefined).length ?? 0
    return erased > 0 ? personEntry('person.erase', person, erased) : undefined
  })
  const results = await erasePayments(recorded, keys, person, now)
  const byName = new Map(results.map(one => [paymentName(one), one]))
  const kept = keys.flatMap(({ merchant_id, tx_reference }): KeptPayment[] => {
    const result = byName.get(paymentName({ merchant_id, tx_reference }))
    if (result && result.keptBecause === undefined) return []
    return [{ merchant_id, tx_reference, because: result?.keptBecause ?? 'busy' }]
  })
  return { erased: keys.length - kept.length, kept }
}
