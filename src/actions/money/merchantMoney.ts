import type { Actor } from '../../core/access/audit.ts'
import { balanceOf } from '../../core/ledger/balance.ts'
import type { RefundState } from '../../core/refund/refund.ts'
import { startOfDay } from '../../core/zone.ts'
import type { Db, Tx } from '../../store/db.ts'
import type { ClosingRow } from '../../store/ledger/closing.ts'
import {
  bookedAt,
  type MoneyLine,
  moneyLines,
  type MoneyScope,
  movedUntil,
} from '../../store/ledger/merchantMoney.ts'
import { listOutlets } from '../../store/merchants/merchants.ts'
import { inOneSnapshot } from '../../store/payments/reports.ts'
import {
  disputesBefore,
  type ListPlace,
  refundsBefore,
  reversalsBefore,
} from '../../store/refunds/moneyBackLists.ts'
import { audited } from '../access/audit.ts'
import { type AccountBalance, balancesAt } from '../ledger/balances.ts'
import { closingOf } from '../ledger/closing.ts'

export type Period = { from: Date; until: Date }

// The balances of one account by currency.
const byCurrency = (balances: readonly AccountBalance[], { mode }: MoneyScope, account: string) =>
  new Map(
    balances
      .filter(one => one.mode === mode && one.account === account)
      .map(({ currency, balance }) => [currency, balance]),
  )

const inCurrency = (sums: Map<string, bigint>, currency: string) => sums.get(currency) ?? 0n

export type CurrencyBalance = {
  currency: string
  owed: bigint // to the merchant
  refunds: bigint // held for refunds that have not ended
  suspense: bigint // belongs to no payment yet
  change: bigint // of `owed` since the beginning of the month
  fees: bigint // of the operator, since then
}

// What is owed to the merchant now, and what has changed since a moment.
export async function merchantBalances(
  db: Db,
  scope: MoneyScope,
  since: Date,
  now: Date,
): Promise<CurrencyBalance[]> {
  const [present, before] = await Promise.all([
    balancesAt(db, scope.merchant_id, now),
    balancesAt(db, scope.merchant_id, since),
  ])
  const of = (account: string) => byCurrency(present, scope, account)
  const [owed, refunds, suspense, fees] = [
    of('merchant'),
    of('refunds_pending'),
    of('suspense'),
    of('gateway_fees'),
  ]
  const owedBefore = byCurrency(before, scope, 'merchant')
  const feesBefore = byCurrency(before, scope, 'gateway_fees')
  return [...new Set([owed, refunds, suspense].flatMap(sums => [...sums.keys()]))].sort().map(currency => ({
    currency,
    owed: inCurrency(owed, currency),
    refunds: inCurrency(refunds, currency),
    suspense: inCurrency(suspense, currency),
    change: inCurrency(owed, currency) - inCurrency(owedBefore, currency),
    fees: inCurrency(fees, currency) - inCurrency(feesBefore, currency),
  }))
}

export type NamedClosingRow = ClosingRow & { outlet_name: string | null }

// What was paid, and what else changed the balance, in a period by the time of booking: by outlet and payment method.
export async function merchantClosing(db: Db, scope: MoneyScope, period: Period): Promise<NamedClosingRow[]> {
  const [rows, outlets] = await Promise.all([
    closingOf(db, scope, period),
    listOutlets(db, scope.merchant_id),
  ])
  const names = new Map(outlets.map(({ code, name }) => [code, name]))
  return rows.map(row => ({ ...row, outlet_name: row.outlet && (names.get(row.outlet) ?? null) }))
}

export type MoneyLineWithBalance = MoneyLine & { balance: bigint }
export type StatementPage = {
  opening: Map<string, bigint> // before the first line of the page
  closing: Map<string, bigint> // after its last line
  lines: MoneyLineWithBalance[]
  next: string | undefined // the last line, if there are more
}

// One page of the statement. The balance before it is that at the beginning of a day, and the rest of that day, unless it is
// known from the page before.
export const statementPage = (
  db: Db,
  scope: MoneyScope,
  period: Period,
  { after, limit, zone, known }: { after?: string; limit: number; zone: string; known?: Map<string, bigint> },
): Promise<StatementPage> =>
  inOneSnapshot(db, async tx => {
    const opening = known ?? (await openingOf(tx, scope, period, after, zone))
    const found = await moneyLines(tx, scope, period, after, limit + 1)
    const balances = new Map(opening)
    const lines = found.slice(0, limit).map(line => {
      const balance = (balances.get(line.currency) ?? 0n) + line.moved
      balances.set(line.currency, balance)
      return { ...line, balance }
    })
    return {
      opening,
      closing: balances,
      lines,
      next: found.length > limit ? lines.at(-1)?.transfer_id : undefined,
    }
  })

async function openingOf(
  tx: Tx,
  scope: MoneyScope,
  { from }: Period,
  after: string | undefined,
  zone: string,
): Promise<Map<string, bigint>> {
  const at = after === undefined ? undefined : await bookedAt(tx, scope.merchant_id, after)
  if (after === undefined || !at) return balancesOfMerchant(tx, scope, from)
  const day = startOfDay(at, zone)
  const sums = await balancesOfMerchant(tx, scope, day)
  for (const { currency, moved } of await movedUntil(tx, scope, day, after))
    sums.set(currency, (sums.get(currency) ?? 0n) + balanceOf('merchant', 0n, moved))
  return sums
}

const balancesOfMerchant = async (tx: Tx, scope: MoneyScope, at: Date) =>
  byCurrency(await balancesAt(tx, scope.merchant_id, at), scope, 'merchant')

const linesAtOnce = 1000

// All lines of a period, read in parts while they are sent.
export async function* allStatementLines(
  db: () => Db,
  scope: MoneyScope,
  period: Period,
  zone: string,
): AsyncGenerator<MoneyLineWithBalance[]> {
  let after: string | undefined
  let known: Map<string, bigint> | undefined
  do {
    const place = { after, limit: linesAtOnce, zone, known }
    const page: StatementPage = await statementPage(db(), scope, period, place)
    if (page.lines.length > 0) yield page.lines
    after = page.next
    known = page.closing
  } while (after !== undefined)
}

export const refundList = (
  db: Db,
  scope: MoneyScope,
  filter: { state?: RefundState; before?: string; limit: number },
) => refundsBefore(db, scope, filter)

export const disputeList = (
  db: Db,
  scope: MoneyScope,
  filter: { isOpen: boolean; before?: ListPlace; limit: number },
) => disputesBefore(db, scope, filter)

export const reversalList = (db: Db, scope: MoneyScope, filter: { before?: ListPlace; limit: number }) =>
  reversalsBefore(db, scope, filter)

// Recorded before the file is sent.
export const recordExport = (
  db: Db,
  { merchant_id, mode }: MoneyScope,
  what: 'statement' | 'closing',
  { from, until }: Period,
  { actor, now }: { actor: Actor; now: Date },
) =>
  audited(db, actor, now, (_, record) =>
    record({
      merchant_id,
      action: 'money.export',
      subject: merchant_id,
      before: null,
      after: { what, mode, from: from.toISOString(), until: until.toISOString() },
    }),
  )
