import type { MethodHealth } from '../../runtime/providers/healthWindows.ts'
import type { HealthMonitors } from '../../runtime/providers/healthMonitor.ts'
import { newLeaseToken } from '../../runtime/ids.ts'
import { forgetHealth, type HealthRow, healthOfOthers, saveHealth } from '../../store/providers/health.ts'
import type { Db } from '../../store/db.ts'

const lookedBackMs = 60_000
const keptMs = 7 * 24 * 3_600_000 // when an account was last well is known for as long
const forgetEveryMs = 3_600_000

type Deps = { db: Db; clock(): Date; keepers: Pick<HealthMonitors, 'windows' | 'breakers'> }

// Tells the other nodes what this one sees of the accounts, and hears what they see. Whoever has seen nothing new writes
// nothing. Where it cannot be written, each node goes by what it sees itself.
export function createHealthExchange({ db, clock, keepers: { windows, breakers } }: Deps) {
  const node = newLeaseToken()
  let forgetAt = 0

  async function tell() {
    const { methods, again } = windows.news()
    if (methods.length === 0) return
    try {
      await saveHealth(db, methods.map(rowOf))
    } catch (error) {
      again()
      throw error
    }
    if (performance.now() < forgetAt) return
    forgetAt = performance.now() + forgetEveryMs
    await forgetHealth(db, new Date(clock().getTime() - keptMs))
  }

  async function readOtherNodes() {
    const now = clock().getTime()
    const rows = await healthOfOthers(db, node, new Date(now - lookedBackMs))
    windows.setOtherNodes(
      rows.map(({ provider_account, payment_method, written_at, ...counts }) => ({
        account: provider_account,
        payment_method,
        counts,
        agoMs: Math.max(0, now - written_at.getTime()),
      })),
    )
    for (const { provider_account, rest_until } of rows) {
      const restMs = rest_until ? rest_until.getTime() - now : 0
      if (restMs > breakers.restMs(provider_account)) breakers.rest(provider_account, restMs)
    }
  }

  function rowOf({
    account,
    payment_method,
    counts: tally,
    answeredAt,
    paidAt,
    unknownCodes,
    lastError,
  }: MethodHealth): HealthRow {
    const [now, monotonic] = [clock(), performance.now()]
    const dateOf = (at: number | null) => (at === null ? null : new Date(now.getTime() - (monotonic - at)))
    const restMs = breakers.restMs(account)
    return {
      ...tally,
      node,
      provider_account: account,
      payment_method,
      breaker: breakers.stateOf(account),
      rest_until: restMs > 0 ? new Date(now.getTime() + restMs) : null,
      answered_at: dateOf(answeredAt),
      paid_at: dateOf(paidAt),
      unknown_codes: unknownCodes.map(([sample, count]) => ({ sample, count })),
      last_error: lastError?.words ?? null,
      last_error_at: dateOf(lastError?.at ?? null),
      is_refused: lastError?.isRefusal ?? false,
      written_at: now,
    }
  }

  return {
    async step() {
      await tell()
      await readOtherNodes()
    },
  }
}
