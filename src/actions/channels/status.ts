import { type HealthSummary, summarize } from '../../core/channel/wayStatus.ts'
import { countOpenAttempts, listHealth } from '../../store/channels/health.ts'
import type { Db } from '../../store/db.ts'

export type WayStatus = { account: string; payment_method: string } & HealthSummary & {
    open_attempts: number
  }

// How every account does in every way that anybody has heard of: of what gateways told, and of attempts that are open.
export async function readChannelStatus(db: Db, now: Date): Promise<WayStatus[]> {
  const [told, counts] = [await listHealth(db), await countOpenAttempts(db)]
  const keys = new Map([...told, ...counts].map(one => [`${one.channel} ${one.payment_method}`, one]))
  return [...keys.values()]
    .map(({ channel, payment_method }) => {
      const isIt = (one: { channel: string; payment_method: string }) =>
        one.channel === channel && one.payment_method === payment_method
      const open_attempts = counts.find(isIt)?.open ?? 0
      return { account: channel, payment_method, ...summarize(told.filter(isIt), now), open_attempts }
    })
    .toSorted(byName)
}

const byName = (a: WayStatus, b: WayStatus) =>
  a.account.localeCompare(b.account) || a.payment_method.localeCompare(b.payment_method)
