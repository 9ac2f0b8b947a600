import { type HealthSummary, summarizeHealth } from '../../core/provider/healthSummary.ts'
import { countOpenAttempts, listHealth } from '../../store/providers/health.ts'
import type { Db } from '../../store/db.ts'

export type MethodStatus = { account: string; payment_method: string } & HealthSummary & {
    open_attempts: number
  }

// How every account does in every way that anybody has heard of: of what gateways told, and of attempts that are open.
export async function readProviderStatus(db: Db, now: Date): Promise<MethodStatus[]> {
  const [told, counts] = [await listHealth(db), await countOpenAttempts(db)]
  const keys = new Map(
    [...told, ...counts].map(one => [`${one.provider_account} ${one.payment_method}`, one]),
  )
  return [...keys.values()]
    .map(({ provider_account, payment_method }) => {
      const isIt = (one: { provider_account: string; payment_method: string }) =>
        one.provider_account === provider_account && one.payment_method === payment_method
      const open_attempts = counts.find(isIt)?.open ?? 0
      return {
        account: provider_account,
        payment_method,
        ...summarizeHealth(told.filter(isIt), now),
        open_attempts,
      }
    })
    .toSorted(byName)
}

const byName = (a: MethodStatus, b: MethodStatus) =>
  a.account.localeCompare(b.account) || a.payment_method.localeCompare(b.payment_method)
