import { isSameAccount, whyNotSetUp } from '../../core/provider/accountIdentity.ts'
import type { OpenProviderAccounts } from '../../runtime/providerAccounts.ts'
import { countOpenByIdentity } from '../../store/providers/businesses.ts'
import type { Tx } from '../../store/db.ts'

export type WaitingAttempts = { account: string; attempts: number; why: string }

// Open attempts that no gateway with these accounts asks about, and why. An account that cannot be opened here may be open
// on a gateway, so nothing is said of it.
export async function waitingAttempts(
  tx: Tx,
  providerAccounts: Pick<OpenProviderAccounts, 'opened' | 'accounts'>,
): Promise<WaitingAttempts[]> {
  const opened = providerAccounts.opened()
  const faulty = new Set(
    providerAccounts.accounts().flatMap(({ account, fault }) => (fault ? [account] : [])),
  )
  const found = new Map<string, WaitingAttempts>()
  for (const { attempts, ...one } of await countOpenByIdentity(tx)) {
    const here = opened.find(({ account }) => account === one.provider_account)
    if (faulty.has(one.provider_account) || (here && isSameAccount(one, here))) continue
    const why = whyNotSetUp(one, here)
    const before = found.get(why)?.attempts ?? 0
    found.set(why, { account: one.provider_account, attempts: before + attempts, why })
  }
  return [...found.values()]
}
