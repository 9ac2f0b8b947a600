import { isSameAccount, whyNotSetUp } from '../../core/provider/accountIdentity.ts'
import type { OpenProviderAccounts } from '../../runtime/providerAccounts.ts'
import { countOpenByIdentity } from '../../store/providers/businesses.ts'
import type { Tx } from '../../store/db.ts'

export type WaitingAttempts = { account: string; attempts: number; why: string }

// Open attempts that no gateway with these accounts polls, and why. An account that cannot be opened here may be open on a
// gateway, so its attempts are left out.
export async function waitingAttempts(
  tx: Tx,
  providerAccounts: Pick<OpenProviderAccounts, 'opened' | 'accounts'>,
): Promise<WaitingAttempts[]> {
  const opened = providerAccounts.opened()
  const faulty = new Set(
    providerAccounts.accounts().flatMap(({ account, fault }) => (fault ? [account] : [])),
  )
  const found = new Map<string, WaitingAttempts>()
  for (const { attempts, ...attempt } of await countOpenByIdentity(tx)) {
    const here = opened.find(({ account }) => account === attempt.provider_account)
    if (faulty.has(attempt.provider_account) || (here && isSameAccount(attempt, here))) continue
    const why = whyNotSetUp(attempt, here)
    const before = found.get(why)?.attempts ?? 0
    found.set(why, { account: attempt.provider_account, attempts: before + attempts, why })
  }
  return [...found.values()]
}
