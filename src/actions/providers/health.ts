import { type HealthRow, summarizeHealth } from '../../core/provider/health.ts'
import type { Db } from '../../store/db.ts'
import { listHealth, listMethods } from '../../store/providers/health.ts'

export type MethodStatus = Awaited<ReturnType<typeof readProviderStatus>>[number]

// Every payment method of every account that a node has called in the last days, or that has open attempts.
export async function readProviderStatus(db: Db, now: Date) {
  const nodes = await listHealth(db)
  const methods = await listMethods(db)
  return methods.map(method => {
    const { account, payment_method } = method
    const isOfMethod = (row: HealthRow) =>
      row.provider_account === account && row.payment_method === payment_method
    return { ...method, ...summarizeHealth(nodes.filter(isOfMethod), now) }
  })
}
