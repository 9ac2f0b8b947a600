import type { LedgerAccount, Transfer } from './transfer.ts'

// Sums by account. Positive: an asset account has it to receive, another account has it to pay.
export type Balances = Map<string, bigint>

const isAsset = (account: string) => account.startsWith('provider:') || account === 'bank'

// An asset's balance is what it was debited minus what it was credited; of the other accounts it is the opposite.
export const balanceOf = (account: string, debits: bigint, credits: bigint) =>
  isAsset(account) ? debits - credits : credits - debits

type Moved = Pick<Transfer, 'debit_account' | 'credit_account' | 'amount'>

export function balancesOf(transfers: readonly Moved[]): Balances {
  const balances: Balances = new Map()
  const add = (account: LedgerAccount, debits: bigint, credits: bigint) =>
    balances.set(account, (balances.get(account) ?? 0n) + balanceOf(account, debits, credits))
  for (const { debit_account, credit_account, amount } of transfers) {
    add(debit_account, amount, 0n)
    add(credit_account, 0n, amount)
  }
  return balances
}
