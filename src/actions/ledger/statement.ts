import { balanceOf } from '../../core/ledger/balance.ts'
import type { LedgerAccount, Transfer } from '../../core/ledger/transfer.ts'
import type { Tx } from '../../store/db.ts'
import { type StatementFilter, transfersBetween } from '../../store/ledger/transfers.ts'
import { balancesAt } from './balances.ts'

// One transfer as the account sees it: what it added to the balance, and the balance after it.
export type StatementLine = Pick<
  Transfer,
  | 'transfer_id'
  | 'kind'
  | 'tx_reference'
  | 'refund_reference'
  | 'reason'
  | 'currency'
  | 'happened_at'
  | 'created_at'
> & { other_account: LedgerAccount; amount: bigint; balance: bigint }

export type Statement = {
  opening: Map<string, bigint> // by currency
  lines: StatementLine[]
  closing: Map<string, bigint>
}

type StatementRequest = StatementFilter & { account: string }

// The statement of one account. Undefined if it has more than `limit` lines.
export async function accountStatement(
  tx: Tx,
  request: StatementRequest,
  limit: number,
): Promise<Statement | undefined> {
  const { merchant_id, mode, account, currency, from } = request
  const transfers = await transfersBetween(tx, request, limit + 1)
  if (transfers.length > limit) return undefined
  const balances = (await balancesAt(tx, merchant_id, from)).filter(
    one => one.mode === mode && one.account === account && (!currency || one.currency === currency),
  )
  const opening = new Map(balances.map(one => [one.currency, one.balance]))
  const closing = new Map(opening)
  const lines = transfers.map(transfer => {
    const isDebit = transfer.debit_account === account
    const sums: [bigint, bigint] = isDebit ? [transfer.amount, 0n] : [0n, transfer.amount]
    const amount = balanceOf(account, ...sums)
    const balance = (closing.get(transfer.currency) ?? 0n) + amount
    closing.set(transfer.currency, balance)
    const other_account = isDebit ? transfer.credit_account : transfer.debit_account
    return { ...transfer, other_account, amount, balance }
  })
  return { opening, lines, closing }
}
