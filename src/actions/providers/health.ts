import { summarizeHealth } from '../../core/provider/health.ts'
import { timerOf, withinDeadline } from '../../runtime/deadline.ts'
import { merchantOfToken, newLeaseToken } from '../../runtime/ids.ts'
import type { ProviderAccounts } from '../../runtime/providerAccounts.ts'
import {
  type AccountMonitor,
  type HealthMonitors,
  otherNodesMs,
  type CredentialsRefusal,
} from '../../runtime/providers/healthMonitor.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Db } from '../../store/db.ts'
import { reopenTaskOf } from '../../store/payments/tasks.ts'
import { changingAccounts } from '../../store/providers/accounts.ts'
import {
  closeRefusalTasks,
  countOpenAttempts,
  deleteHealthBefore,
  findAttempt,
  hasRefusalTask,
  healthOfOtherNodes,
  listHealth,
  type OpenCount,
  saveHealth,
} from '../../store/providers/health.ts'

const retentionMs = 7 * 24 * 3_600_000
const deleteEveryMs = 3_600_000

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
    const rows = monitors.all().flatMap(monitor => monitor.rows())
    if (changes > savedChanges) {
      await saveHealth(db, node, rows)
      savedChanges = changes
      if (performance.now() >= deleteAt) {
        deleteAt = performance.now() + deleteEveryMs
        await deleteHealthBefore(db, ago(retentionMs))
      }
    }
    monitors.setOtherNodes(await healthOfOtherNodes(db, node, ago(otherNodesMs)), now)
  }
}

// Probes accounts whose breaker is probing by a check of their credentials, which charges nothing. So an account recovers
// without an order of a customer. Resolves when all probes have ended.
export async function probeAccounts(
  providerAccounts: Pick<ProviderAccounts, 'find'>,
  monitors: HealthMonitors,
) {
  const probe = async (monitor: AccountMonitor) => {
    const account = providerAccounts.find(monitor.account)
    if (!account?.checkCredentials) return
    const recordCall = monitor.trackCall('ask', 'test')
    const timer = timerOf(account.pollTimeoutMs)
    const check = await withinDeadline(account.checkCredentials, timer, 'no answer in time').catch(
      () => undefined,
    )
    recordCall(check?.isValid ? 'answered' : 'unanswered')
  }
  await Promise.all(
    monitors
      .all()
      .filter(monitor => monitor.takeProbe())
      .map(probe),
  )
}

type TaskDeps = Pick<Runtime, 'db' | 'clock' | 'watch'>

// Raises a task if a provider refuses the credentials of an account, on the attempt that was refused first. All nodes and
// attempts share one task for each account. It is closed when the provider accepts the credentials again.
export async function raiseRefusals({ monitors, ...deps }: TaskDeps & { monitors: HealthMonitors }) {
  for (const monitor of monitors.all()) {
    const { account, refusal } = monitor
    if (refusal === monitor.savedRefusal) continue
    if (refusal) await raiseRefusal(deps, account, refusal)
    else
      await closeRefusalTasks(deps.db, account, 'The provider accepts the credentials again.', deps.clock())
    monitor.savedRefusal = refusal
  }
}

async function raiseRefusal(
  { db, clock, watch }: TaskDeps,
  account: string,
  { attempt_id, words }: CredentialsRefusal,
) {
  const note = `The provider refuses the credentials of ${account}: ${words}`
  const raised = await changingAccounts(db, async tx => {
    if (await hasRefusalTask(tx, account)) return undefined
    const attempt = await findAttempt(tx, merchantOfToken(attempt_id), attempt_id)
    const task = attempt && (await reopenTaskOf(tx, attempt, 'account_refused', note, clock()))
    return task && { attempt, events: [], tasks: [task] }
  })
  if (raised) watch(raised)
}

export type MethodStatus = Awaited<ReturnType<typeof readProviderStatus>>[number]

// Every payment method of every account that a node has called in the last days, or that has open attempts.
export async function readProviderStatus(db: Db, now: Date) {
  const health = await listHealth(db)
  const open = await countOpenAttempts(db)
  const methods = new Map(
    [...health, ...open].map(one => [`${one.provider_account} ${one.payment_method}`, one]),
  )
  return [...methods]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([, { provider_account: account, payment_method }]) => {
      const isOfMethod = (row: Omit<OpenCount, 'open'>) =>
        row.provider_account === account && row.payment_method === payment_method
      const summary = summarizeHealth(health.filter(isOfMethod), now)
      return { account, payment_method, ...summary, open_attempts: open.find(isOfMethod)?.open ?? 0 }
    })
}
