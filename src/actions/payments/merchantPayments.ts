import { readMerchantSettings } from '../../core/merchant/settings.ts'
import type { Mode } from '../../core/mode.ts'
import { type ListFilter, type PagePlace, referencesOf } from '../../core/payment/listFilter.ts'
import { type ListSearch, readListSearch } from '../../core/payment/listSearch.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { referencePeriods } from '../../core/payment/reference.ts'
import type { Db } from '../../store/db.ts'
import { findMerchant, listOutlets } from '../../store/merchants/merchants.ts'
import { unacknowledgedAmong } from '../../store/notifications/notificationList.ts'
import {
  lastInRange,
  oldestOf,
  paidByAmount,
  paidByName,
  type PaymentRange,
  paymentsAmong,
  paymentsInRange,
  referencesByAttempt,
  referencesByEmail,
  referencesByInvoice,
  referencesByNumber,
  referencesByPrefix,
  type SoughtPayments,
} from '../../store/payments/merchantPayments.ts'
import { paymentsByToken } from '../../store/payments/paymentSearch.ts'
import { searchPayments } from '../../store/payments/payments.ts'

const mostRead = 20_000 // rows for one page of a list, whatever its filter
const mostFound = 200 // by an index; of more than that, the list reads the key range
const clockToleranceMs = 86_400_000 // references of a node whose clock was ahead

export type MerchantList = {
  merchant_id: string
  mode: Mode
  filter: ListFilter
  timeZone: string
  now: Date
}

// Which payments to read. `isFound`: the indexes have found all of them. Undefined: no payment can match.
type PreparedList = { range: PaymentRange; isFound: boolean; isByValue: boolean }

export type PaymentPage = {
  payments: Payment[] // newest first
  hasOlder: boolean
  hasNewer: boolean
  readTo?: string // older (or newer) payments than this one were not read
  unacknowledged: ReadonlySet<string> // of them, those whose newest notification the shop has not acknowledged
  isByValue: boolean // the search is for an amount or a name, which an index has for paid payments only
}

const emptyPage: PaymentPage = {
  payments: [],
  hasOlder: false,
  hasNewer: false,
  unacknowledged: new Set(),
  isByValue: false,
}

// One page of a merchant's payments. The search decides first, then the other filters.
export async function paymentPage(
  db: Db,
  list: MerchantList,
  place: PagePlace,
  size: number,
): Promise<PaymentPage> {
  const prepared = await prepareList(db, list)
  if (!prepared) return emptyPage
  const { found, readTo } = await readOn(db, prepared, place, size + 1)
  const isOlder = place.going === 'older'
  const payments = isOlder ? found.slice(0, size) : found.slice(0, size).toReversed()
  const isCut = found.length > size
  const references = payments.map(({ tx_reference }) => tx_reference)
  return {
    payments,
    hasOlder: isOlder ? isCut : true,
    hasNewer: isOlder ? place.from !== undefined : isCut,
    readTo: isCut ? undefined : readTo,
    unacknowledged: new Set(await unacknowledgedAmong(db, list.merchant_id, references)),
    isByValue: prepared.isByValue,
  }
}

// All payments of the list in batches, newest first.
export async function* allPaymentsOf(
  db: () => Db,
  list: MerchantList,
  batch: number,
): AsyncGenerator<Payment[]> {
  const prepared = await prepareList(db(), list)
  let from: string | undefined
  if (!prepared) return
  for (;;) {
    const { found, readTo } = await readOn(db(), prepared, { going: 'older', from }, batch)
    yield found // also if it is empty, so that a search that nobody waits for any more can stop
    from = found.length === batch ? found.at(-1)?.tx_reference : readTo
    if (from === undefined) return
  }
}

async function readOn(db: Db, { range, isFound }: PreparedList, place: PagePlace, limit: number) {
  if (isFound) return { found: await paymentsAmong(db, range, place, limit), readTo: undefined }
  const found = await paymentsInRange(db, range, place, limit, mostRead)
  const readTo = found.length < limit ? await lastInRange(db, range, place, mostRead) : undefined
  return { found, readTo }
}

async function prepareList(db: Db, list: MerchantList): Promise<PreparedList | undefined> {
  const { merchant_id, mode, filter, timeZone } = list
  const { statuses, methods, outlets } = filter
  const range = { merchant_id, mode, statuses, methods, outlets, ...referencesOf(filter, timeZone) }
  if (filter.q === '') return { range, isFound: false, isByValue: false }
  const merchant = await findMerchant(db, merchant_id)
  const { currencies } = readMerchantSettings(merchant?.settings ?? {})
  const search = readListSearch(filter.q, currencies)
  if (!search) return undefined
  const exact = await findExact(db, list, search)
  const none = { references: exact }
  if (exact.length > 0) return { range: { ...range, sought: none }, isFound: true, isByValue: false }
  const isPaidOnly = statuses.length === 1 && statuses[0] === 'paid'
  const { references, isAll } = await findByIndexes(db, list, search, isPaidOnly)
  const isByValue = search.totals.length > 0 || search.namePrefix !== undefined
  const isFound = isAll && (!isByValue || isPaidOnly)
  return {
    range: { ...range, sought: isFound ? { references } : soughtBy(search, references) },
    isFound,
    isByValue,
  }
}

const soughtBy = (
  { text, phones, email, totals, namePrefix, referencePrefix }: ListSearch,
  references: readonly string[],
): SoughtPayments => ({
  references,
  invoicePrefix: referencePrefix ? undefined : text,
  phones,
  email,
  totals,
  namePrefix,
})

// A whole reference, or an invoice id. An amount may be one, too, so then it does not decide alone.
async function findExact(
  db: Db,
  { merchant_id, mode }: MerchantList,
  { text, reference, totals }: ListSearch,
) {
  if (totals.length > 0) return []
  const found = await searchPayments(db, [merchant_id], reference ?? text)
  if (found.length === 0 && reference && reference !== text)
    found.push(...(await searchPayments(db, [merchant_id], text)))
  const own = found.filter(payment => payment.mode === mode)
  const byReference = own.filter(({ tx_reference }) => tx_reference === reference)
  return (byReference.length > 0 ? byReference : own).map(({ tx_reference }) => tx_reference)
}

async function findByIndexes(
  db: Db,
  { merchant_id, mode, now }: MerchantList,
  s: ListSearch,
  isPaidOnly: boolean,
) {
  const limit = mostFound + 1
  const oldest = await oldestOf(db, merchant_id)
  const periods = oldest ? referencePeriods(oldest, new Date(now.getTime() + clockToleranceMs)) : []
  const { referencePrefix, namePrefix, totals, email, token } = s
  const none = Promise.resolve<string[]>([])
  const found = await Promise.all([
    referencePrefix ? referencesByPrefix(db, merchant_id, referencePrefix, limit) : none,
    referencePrefix ? none : referencesByInvoice(db, merchant_id, mode, s.text, limit),
    ...s.phones.map(phone => referencesByNumber(db, merchant_id, phone, periods, limit)),
    email ? referencesByEmail(db, merchant_id, email, periods, limit) : none,
    referencesByAttempt(
      db,
      merchant_id,
      { wallets: s.phones, providerRef: s.providerRef, attempt_id: s.attempt_id },
      limit,
    ),
    token ? referencesByToken(db, merchant_id, token) : none,
    isPaidOnly && totals.length > 0 ? paidByAmount(db, merchant_id, totals, periods, limit) : none,
    isPaidOnly && namePrefix ? paidByName(db, merchant_id, namePrefix, periods, limit) : none,
  ])
  const references = [...new Set(found.flat())]
  return { references: references.slice(0, mostFound * 4), isAll: found.every(some => some.length < limit) }
}

// The names of a merchant's outlets by their codes.
export async function outletNames(db: Db, merchant_id: string): Promise<ReadonlyMap<string, string>> {
  const outlets = await listOutlets(db, merchant_id)
  return new Map(outlets.map(({ code, name }) => [code, name || code]))
}

const referencesByToken = async (db: Db, merchant_id: string, token: string) =>
  (await paymentsByToken(db, merchant_id, token)).map(({ tx_reference }) => tx_reference)
