import type { SeenWay } from '../../runtime/channels/health.ts'
import type { Keepers } from '../../runtime/channels/keeper.ts'
import { newLeaseToken } from '../../runtime/ids.ts'
import { forgetHealth, type HealthRow, healthOfOthers, saveHealth } from '../../store/channels/health.ts'
import type { Db } from '../../store/db.ts'

const lookedBackMs = 60_000
const keptMs = 7 * 24 * 3_600_000 // when an account was last well is known for as long
const forgetEveryMs = 3_600_000

type Deps = { db: Db; clock(): Date; keepers: Pick<Keepers, 'windows' | 'breakers'> }

// Tells the other nodes what this one sees of the accounts, and hears what they see. Whoever has seen nothing new writes
// nothing. Where it cannot be written, each node goes by what it sees itself.
export function createHealthSharing({ db, clock, keepers: { windows, breakers } }: Deps) {
  const node = newLeaseToken()
  let forgetAt = 0

  async function tell() {
    const { ways, again } = windows.news()
    if (ways.length === 0) return
    try {
      await saveHealth(db, ways.map(rowOf))
    } catch (error) {
      again()
      throw error
    }
    if (performance.now() < forgetAt) return
    forgetAt = performance.now() + forgetEveryMs
    await forgetHealth(db, new Date(clock().getTime() - keptMs))
  }

  async function hear() {
    const now = clock().getTime()
    const rows = await healthOfOthers(db, node, new Date(now - lookedBackMs))
    windows.hearOthers(
      rows.map(({ channel, payment_method, written_at, ...tally }) => ({
        account: channel,
        payment_method,
        tally,
        agoMs: Math.max(0, now - written_at.getTime()),
      })),
    )
    for (const { channel, rest_until } of rows) {
      const restMs = rest_until ? rest_until.getTime() - now : 0
      if (restMs > breakers.restMs(channel)) breakers.rest(channel, restMs)
    }
  }

  function rowOf({
    account,
    payment_method,
    tally,
    answeredAt,
    paidAt,
    oddWords,
    lastError,
  }: SeenWay): HealthRow {
    const [now, monotonic] = [clock(), performance.now()]
    const dateOf = (at: number | null) => (at === null ? null : new Date(now.getTime() - (monotonic - at)))
    const restMs = breakers.restMs(account)
    return {
      ...tally,
      node,
      channel: account,
      payment_method,
      breaker: breakers.stateOf(account),
      rest_until: restMs > 0 ? new Date(now.getTime() + restMs) : null,
      answered_at: dateOf(answeredAt),
      paid_at: dateOf(paidAt),
      odd_words: oddWords.map(([sample, count]) => ({ sample, count })),
      last_error: lastError?.words ?? null,
      last_error_at: dateOf(lastError?.at ?? null),
      is_refused: lastError?.isRefusal ?? false,
      written_at: now,
    }
  }

  return {
    async step() {
      await tell()
      await hear()
    },
  }
}
