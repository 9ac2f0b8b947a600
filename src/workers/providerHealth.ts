import type { Heartbeats } from '../runtime/heartbeats.ts'
import type { Pause } from '../core/databaseClock.ts'
import { merchantOfToken, newLeaseToken } from '../runtime/ids.ts'
import {
  type CredentialsRefusal,
  type HealthMonitors,
  otherNodesMs,
} from '../runtime/providers/healthMonitor.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Db } from '../store/db.ts'
import { reopenTaskOf } from '../store/payments/tasks.ts'
import { changingAccounts } from '../store/providers/accounts.ts'
import * as store from '../store/providers/health.ts'
import { startLoop } from './loop.ts'

const restMs = 5000
const retentionMs = 7 * 24 * 3_600_000
const deleteEveryMs = 3_600_000

// Probes accounts whose breaker is probing, so that they recover without an order of a customer; exchanges the health of
// accounts with the other nodes; and saves which credentials are refused. The loop does not wait for the probes, so that a
// slow provider delays neither other probes nor the exchange.
export function startProviderHealth(
  { db, providerAccounts, watch }: Pick<Runtime, 'db' | 'providerAccounts' | 'watch'>,
  monitors: HealthMonitors,
  onTrouble: (error: unknown) => void,
  pause?: Pause,
  heartbeats?: Heartbeats,
) {
  const healthDb = db.withQuota('health')
  const exchange = createHealthExchange(healthDb, monitors)
  return startLoop({
    restMs,
    async step() {
      for (const name of providerAccounts.names) void providerAccounts.find(name)?.probe()
      await exchange()
      await saveRefusals(healthDb, monitors, watch)
    },
    onTrouble,
    pause,
    heartbeat: heartbeats?.of('providerHealth'),
  })
}

// Shares the counts of this node with the other nodes through the database. If the database does not take them, each node
// judges by its own counts, and a later step saves them. A node without new counts writes nothing.
export function createHealthExchange(db: Db, monitors: HealthMonitors) {
  const node = newLeaseToken()
  let savedChanges = 0
  let deleteAt = 0

  return async () => {
    const now = monitors.clock()
    const ago = (ms: number) => new Date(now.getTime() - ms)
    const changes = monitors.all().reduce((sum, monitor) => sum + monitor.changes, 0)
    if (changes > savedChanges) {
      const rows = monitors.all().flatMap(monitor => monitor.rows())
      await store.saveHealth(db, node, rows)
      savedChanges = changes
      if (performance.now() >= deleteAt) {
        deleteAt = performance.now() + deleteEveryMs
        await store.deleteHealthBefore(db, ago(retentionMs))
      }
    }
    monitors.setOtherNodes(await store.healthOfOtherNodes(db, node, ago(otherNodesMs)), now)
  }
}

// Raises a task if a provider refuses the credentials of an account, and closes it when the provider accepts them again.
export async function saveRefusals(db: Db, monitors: HealthMonitors, watch: Runtime['watch']) {
  for (const monitor of monitors.all()) {
    const { account, refusal } = monitor
    if (refusal === monitor.savedRefusal) continue
    const raised = refusal && (await raiseRefusal(db, account, refusal, monitors.clock()))
    if (raised) watch(raised)
    if (!refusal) await store.closeRefusalTasks(db, account, monitors.clock())
    monitor.savedRefusal = refusal
  }
}

// The task is on the attempt that was refused first. All nodes and attempts share one task for each account.
const raiseRefusal = (db: Db, account: string, { attempt_id, words }: CredentialsRefusal, now: Date) =>
  changingAccounts(db, async tx => {
    const attempt = await store.findRefusedAttempt(tx, account, merchantOfToken(attempt_id), attempt_id)
    const note = `The provider refuses the credentials of ${account}: ${words}`
    const task = attempt && (await reopenTaskOf(tx, attempt, 'account_refused', note, now))
    return task && { attempt, events: [], tasks: [task] }
  })
