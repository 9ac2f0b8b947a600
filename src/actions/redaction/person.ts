import type { Actor, AuditEntry } from '../../core/access/audit.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { referencePeriods } from '../../core/payment/reference.ts'
import { aliasesOf, type Person, type Spelling } from '../../core/redaction/redact.ts'
import type { Db } from '../../store/db.ts'
import { listMerchants } from '../../store/merchants/merchants.ts'
import { type PaymentKey, paymentName } from '../../store/payments/paymentKeys.ts'
import {
  oldestReference,
  paymentsByEmail,
  paymentsByNumber,
  paymentsByWallet,
  paymentsOfPeriod,
  readPayments,
} from '../../store/payments/paymentSearch.ts'
import { audited } from '../access/audit.ts'

const maxListed = 50
const maxWithAliases = 500 // the newest payments, whose names and addresses are searched for in texts
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

const noLimit = 10_000_000

// All of them, newest first, in a part for each period that is searched: a part may be empty, and a payment may be in two.
export async function* allPaymentsOfPerson(
  open: () => Db,
  { kind, value }: Person,
  now: Date,
): AsyncGenerator<readonly PaymentKey[]> {
  const oldest = await oldestReference(open())
  if (oldest === undefined) return
  for (const period of referencePeriods(oldest, new Date(now.getTime() + clockToleranceMs)))
    yield paymentsOfPeriod(open(), period, kind === 'phone' ? { number: value } : { email: value })
  if (kind === 'email') return
  const merchants = (await listMerchants(open())).map(({ merchant_id }) => merchant_id)
  yield paymentsByWallet(open(), merchants, value, noLimit)
}

export type FoundPerson = { payments: Payment[]; more: boolean }

// Each search is recorded, without the number or address.
export async function findPerson(db: Db, person: Person, actor: Actor, now: Date): Promise<FoundPerson> {
  const keys = await paymentsOfPerson(db, person, now, maxListed + 1)
  await audited(db, actor, now, (_, record) =>
    record(personEntry('person.find', person, { payments: keys.length })),
  )
  const payments = keys.length > 0 ? await readPayments(db, keys.slice(0, maxListed)) : []
  return { payments, more: keys.length > maxListed }
}

// Other names, numbers and addresses of the person.
export async function aliasesOfPerson(db: Db, person: Person, now: Date): Promise<Spelling[]> {
  const keys = await paymentsOfPerson(db, person, now, maxWithAliases)
  return aliasesOf(keys.length > 0 ? await readPayments(db, keys) : [])
}

// The audit log holds no number and no address: only which of the two was used, and counts.
export const personEntry = (
  action: 'person.find' | 'person.export' | 'person.erase' | 'person.erased',
  { kind }: Person,
  after: Readonly<Record<string, number>> | null,
): AuditEntry => ({ merchant_id: null, action, subject: kind, before: null, after })
