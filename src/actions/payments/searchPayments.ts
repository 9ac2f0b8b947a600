import type { Payment } from '../../core/payment/payment.ts'
import { referencePeriods } from '../../core/payment/reference.ts'
import { readSearchTerms, type SearchTerms } from '../../core/payment/searchTerms.ts'
import { isPlainText } from '../../core/text.ts'
import { merchantOfToken } from '../../runtime/ids.ts'
import type { Db } from '../../store/db.ts'
import { listMerchants } from '../../store/merchants/merchants.ts'
import { type PaymentKey, paymentName } from '../../store/payments/paymentKeys.ts'
import {
  latestPayments,
  oldestReference,
  paymentsByAttempt,
  paymentsByEmail,
  paymentsByNumber,
  paymentsByProviderRef,
  paymentsByToken,
  paymentsByWallet,
  readPayments,
} from '../../store/payments/paymentSearch.ts'
import { searchPayments } from '../../store/payments/payments.ts'
import { findByReferenceOrInvoice } from './explainPayment.ts'

const maxResults = 20
const maxLatest = 10
const clockToleranceMs = 86_400_000 // references of a node whose clock was ahead

// `more`: there are older ones.
export type SearchResults = { payments: Payment[]; more: boolean }

const none: SearchResults = { payments: [], more: false }

// The payments that a text of a customer or a shop means: a reference, an invoice id, a phone or wallet number, an email
// address, a provider's reference or a checkout address. Newest first.
export async function searchByText(
  db: Db,
  typed: string,
  merchant_id: string | undefined,
  now: Date,
): Promise<SearchResults> {
  const terms = readSearchTerms(typed)
  if (!terms || !isPlainText(merchant_id ?? '')) return none
  const exact = terms.reference ? await findByReferenceOrInvoice(db, terms.text, merchant_id) : []
  if (exact.length > 0) return { payments: exact.slice(0, maxResults), more: exact.length > maxResults }
  const keys = await findKeys(db, terms, merchant_id, now)
  if (keys.length === 0) return none
  const payments = await readPayments(db, keys)
  return { payments: payments.slice(0, maxResults), more: payments.length > maxResults }
}

async function findKeys(
  db: Db,
  { text, token, phones, email, providerRef, attempt_id }: SearchTerms,
  merchant_id: string | undefined,
  now: Date,
): Promise<PaymentKey[]> {
  const ids = merchant_id ? [merchant_id] : (await listMerchants(db)).map(merchant => merchant.merchant_id)
  const oldest = phones.length > 0 || email ? await oldestReference(db) : undefined
  const periods = oldest ? referencePeriods(oldest, new Date(now.getTime() + clockToleranceMs)) : []
  const limit = maxResults + 1
  const found = await Promise.all([
    searchPayments(db, ids, text),
    ...phones.flatMap(phone => [
      paymentsByNumber(db, phone, { periods, limit }),
      paymentsByWallet(db, ids, phone, limit),
    ]),
    email ? paymentsByEmail(db, email, { periods, limit }) : [],
    providerRef ? paymentsByProviderRef(db, providerRef, limit) : [],
    attempt_id ? paymentsByAttempt(db, merchantOfToken(attempt_id), attempt_id) : [],
    token ? paymentsByToken(db, merchantOfToken(token), token) : [],
  ])
  const keys = found.flat().filter(key => !merchant_id || key.merchant_id === merchant_id)
  return [...new Map(keys.map(key => [paymentName(key), key])).values()]
}

export const newestOfAll = (db: Db) => latestPayments(db, maxLatest)
