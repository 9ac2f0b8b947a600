import { missingTransfers } from '../../core/ledger/bookChange.ts'
import { readMerchantSettings } from '../../core/merchant/settings.ts'
import { firstReferenceAt } from '../../core/payment/reference.ts'
import type { Db } from '../../store/db.ts'
import { endOfNextAttempts, findSearch, saveSearch, unbookedPayments } from '../../store/ledger/search.ts'
import { bookedIds, bookTransfers } from '../../store/ledger/transfers.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import { moneyBackOf } from '../../store/payments/moneyBack.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { lockPayment } from '../../store/payments/paymentLife.ts'
import { isAccountOf } from '../../store/providers/accounts.ts'

const attemptsAtOnce = 2000
const dayMs = 86_400_000
const searchedDays = 40 // by every pass but the first

// `isFirstPass`: the payments of before the ledger. Later passes find only what a node of an earlier version has paid.
export type FoundUnbooked = { merchant_id: string; tx_references: string[]; isFirstPass: boolean }
export type SearchResult = { hasMore: boolean; found?: FoundUnbooked }

// Finds charges of one merchant without transfers and books them. Each call searches one batch and stores how far it came,
// so a restart continues there. After the last batch it rests for a day, then searches the last weeks again.
export async function searchUnbooked(db: Db, merchant_id: string, now: Date): Promise<SearchResult> {
  const stored = await findSearch(db, merchant_id)
  const search = stored ?? { merchant_id, behind: '', passes: 0, due_at: now }
  const isResting = search.due_at > now
  if (isResting) return { hasMore: false }
  const last = await endOfNextAttempts(db, merchant_id, search.behind, attemptsAtOnce)
  if (last === undefined) {
    const behind = firstReferenceAt(new Date(now.getTime() - searchedDays * dayMs))
    const due_at = new Date(now.getTime() + dayMs)
    await saveSearch(db, { merchant_id, behind, passes: search.passes + 1, due_at })
    return { hasMore: false }
  }
  const tx_references: string[] = []
  for (const tx_reference of await unbookedPayments(db, { merchant_id, behind: search.behind, last }))
    if ((await bookMissing(db, { merchant_id, tx_reference })) > 0) tx_references.push(tx_reference)
  await saveSearch(db, { ...search, behind: last })
  const isFirstPass = search.passes === 0
  return {
    hasMore: true,
    ...(tx_references.length > 0 && { found: { merchant_id, tx_references, isFirstPass } }),
  }
}

// In a transaction that has locked the payment, so that no other one books the same. Returns the number of transfers.
export const bookMissing = (db: Db, key: PaymentKey): Promise<number> =>
  db.transaction(async tx => {
    const payment = await lockPayment(tx, key)
    if (!payment) return 0
    const booked = await bookedIds(tx, key)
    const settings = readMerchantSettings(payment.merchant_settings)
    const missing = []
    for (const attempt of await attemptsOf(tx, key.merchant_id, key.tx_reference)) {
      if (attempt.state !== 'paid' && attempt.charged === null) continue
      const isOwn = await isAccountOf(tx, attempt.provider_account, key.merchant_id)
      const records = await moneyBackOf(tx, attempt)
      missing.push(...missingTransfers(payment, attempt, records, settings, isOwn, booked))
    }
    if (missing.length > 0) await tx.rows(bookTransfers(missing))
    return missing.length
  })
