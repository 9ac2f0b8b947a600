import { timingSafeEqual } from 'node:crypto'
import type { Actor } from '../../core/access/audit.ts'
import { takenEntry } from '../../core/access/auditEntries.ts'
import { isPermitted } from '../../core/access/permissions.ts'
import { Refusal } from '../../core/interface/refusal.ts'
import { parseRequest } from '../../core/interface/request.ts'
import { checkSettings } from '../../core/interface/requestLimits.ts'
import {
  type MerchantSettings,
  readMerchantSettings,
  unreadableSettings,
} from '../../core/merchant/settings.ts'
import type { Mode } from '../../core/mode.ts'
import type { NewPayment } from '../../core/payment/payment.ts'
import { firstReferenceAt } from '../../core/payment/reference.ts'
import { takenInvoice, takenLimits, takenRateMs } from '../../core/payment/takenPayment.ts'
import type { Db, Tx } from '../../store/db.ts'
import { findMerchant, listOutlets, type Outlet } from '../../store/merchants/merchants.ts'
import { findRequests, storePayments } from '../../store/payments/payments.ts'
import { addTakenPayment, countOpenTaken, countTaken, lockTaker } from '../../store/payments/takenPayments.ts'
import { audited } from '../access/audit.ts'
import { mustBeReadable } from '../interface/authenticate.ts'
import { newPayment } from '../interface/initiate.ts'

// Who takes a payment, at which merchant and in which mode.
export type Taker = { merchant_id: string; mode: Mode; user_id: string; actor: Actor }

// What the form contains. Empty texts are absent.
export type TakenInput = {
  form_id: string
  total: string
  currency: string
  phone: string
  email: string
  outlet: string
  description: string
}

const inputFields = {
  total: 'total',
  currency: 'total',
  number: 'phone',
  email: 'email',
  extra_outlet: 'outlet',
  description: 'description',
} as const

export type TakenFault = (typeof inputFields)[keyof typeof inputFields]

export type Taken =
  | { done: 'taken'; tx_reference: string; isNew: boolean }
  | { done: 'fault'; field: TakenFault }
  | { done: 'used'; tx_reference: string } // the form was submitted before with other input
  | { done: 'too_fast' | 'too_many_open' | 'closed' | 'not_allowed' | 'stale' }

// What the form offers: the outlets of the user, and the currencies and limits of the merchant.
export type TakingTerms = { outlets: readonly Outlet[]; settings: MerchantSettings; active: boolean }

export async function takingTerms(
  db: Db,
  merchant_id: string,
  bound: readonly string[] | null,
): Promise<TakingTerms | undefined> {
  const [merchant, outlets] = await Promise.all([findMerchant(db, merchant_id), listOutlets(db, merchant_id)])
  if (!merchant) return undefined
  mustBeReadable(
    { merchant_id, unreadable: unreadableSettings(merchant.settings), sealed: undefined },
    'initiation',
  )
  return {
    outlets: outlets.filter(({ code }) => !bound || bound.includes(code)),
    settings: readMerchantSettings(merchant.settings),
    active: merchant.active,
  }
}

// A user takes a payment. It is validated and stored as a request of the API is, with the record of who took it and the
// entry of the audit log in one commit. The same form again finds the same payment.
export async function takePayment(db: Db, taker: Taker, input: TakenInput, now: Date): Promise<Taken> {
  const terms = await takingTerms(db, taker.merchant_id, null)
  if (!terms?.active) return { done: 'closed' }
  const payment = readPayment(taker, input, terms, now)
  if ('field' in payment) return { done: 'fault', field: payment.field }
  return audited(db, taker.actor, now, async (tx, record): Promise<Taken> => {
    const member = await lockTaker(tx, taker.merchant_id, taker.user_id)
    if (!member || !isPermitted({ at: 'merchant', role: member.role }, 'take.payment'))
      return { done: 'not_allowed' }
    if (member.outlets && !member.outlets.includes(payment.outlet ?? ''))
      return { done: 'fault', field: 'outlet' }
    const limited = await fullLimit(tx, taker, terms.settings, now)
    const stored = limited
      ? (await findRequests(tx, [payment])).at(0)
      : (await storePayments(tx, [payment])).at(0)
    if (!stored) return { done: limited ?? 'stale' }
    if (stored.tx_reference === payment.tx_reference) {
      await addTakenPayment(tx, { ...taker, tx_reference: payment.tx_reference })
      await record(takenEntry(payment))
      return { done: 'taken', tx_reference: payment.tx_reference, isNew: true }
    }
    const { tx_reference } = stored
    return timingSafeEqual(stored.request_digest, payment.request_digest)
      ? { done: 'taken', tx_reference, isNew: false }
      : { done: 'used', tx_reference }
  })
}

function readPayment(
  { merchant_id, mode }: Taker,
  input: TakenInput,
  { settings, outlets }: TakingTerms,
  now: Date,
): NewPayment | { field: TakenFault } {
  try {
    const request = parseRequest({
      merchant_key: 'dashboard',
      invoice_id: takenInvoice(input.form_id),
      total: input.total.trim(),
      currency: input.currency || settings.currencies[0],
      generate_checkout_url: 'true',
      ...present({
        number: input.phone,
        email: input.email,
        extra_outlet: input.outlet,
        description: input.description,
      }),
    })
    const refusal = checkSettings(settings, new Set(outlets.map(({ code }) => code)), request)
    if (refusal) throw refusal
    return newPayment({ merchant_id, mode, settings }, request, now)
  } catch (error) {
    const field = error instanceof Refusal && inputFields[error.field as keyof typeof inputFields]
    if (!field) throw error
    return { field }
  }
}

const present = (texts: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(texts)
      .map(([name, text]) => [name, text.trim()])
      .filter(([, text]) => text !== ''),
  ) as Record<string, string>

async function fullLimit(tx: Tx, { merchant_id, user_id }: Taker, settings: MerchantSettings, now: Date) {
  const ago = (ms: number) => firstReferenceAt(new Date(now.getTime() - ms))
  const { inMinute, open } = takenLimits
  const recent = { merchant_id, user_id, since: ago(takenRateMs) }
  if ((await countTaken(tx, recent, inMinute)) >= inMinute) return 'too_fast'
  const living = { merchant_id, user_id, since: ago(settings.expiry_minutes * 60_000) }
  return (await countOpenTaken(tx, living, now, open)) >= open ? 'too_many_open' : undefined
}
