import { type HealthSummary, summarizeHealth } from '../../core/provider/health.ts'
import { timerOf, withinDeadline } from '../../runtime/deadline.ts'
import { merchantOfToken, newLeaseToken } from '../../runtime/ids.ts'
import type { ProviderAccounts } from '../../runtime/providerAccounts.ts'
import type {
  AccountMonitor,
  CredentialsChange,
  HealthMonitors,
  MethodHealth,
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
  type HealthRow,
  listHealth,
  saveHealth,
} from '../../store/providers/health.ts'

const otherNodesMs = 60_000 // counts of other nodes are read for this long
const retentionMs = 7 * 24 * 3_600_000
const cleanUpEveryMs = 3_600_000
const probeEveryMs = 30_000

type ExchangeDeps = { db: Db; clock(): Date; monitors: HealthMonitors }

// Shares the counts of this node with the other nodes through the database. If the database does not take them, each node
// judges by its own counts, and unsaved ones are saved by a later step. A node without new counts writes nothing.
export function createHealthExchange({ db, clock, monitors }: ExchangeDeps) {
  const node = newLeaseToken()
  let cleanUpAt = 0

  async function saveOwn() {
    const unsaved = monitors.all().flatMap(monitor => monitor.unsavedMethods())
    if (unsaved.length === 0) return
    await saveHealth(
      db,
      unsaved.map(method => rowOf(node, monitors.account(method.account), method, clock())),
    )
    for (const method of unsaved) monitors.account(method.account).confirmSaved(method)
    if (performance.now() < cleanUpAt) return
    cleanUpAt = performance.now() + cleanUpEveryMs
    await deleteHealthBefore(db, new Date(clock().getTime() - retentionMs))
  }

  async function readOtherNodes() {
    const now = clock().getTime()
    const rows = await healthOfOtherNodes(db, node, new Date(now - otherNodesMs))
    monitors.setOtherNodes(
      rows.map(({ provider_account: account, payment_method, written_at, ...counts }) => {
        const agoMs = Math.max(0, now - written_at.getTime())
        return { account, payment_method, counts, agoMs }
      }),
    )
    for (const { provider_account, rest_until } of rows) {
      const monitor = monitors.account(provider_account)
      const pauseMs = rest_until ? rest_until.getTime() - now : 0
      if (pauseMs > monitor.pauseMs()) monitor.pause(pauseMs)
    }
  }

  return {
    async step() {
      await saveOwn()
      await readOtherNodes()
    },
  }
}

function rowOf(node: string, monitor: AccountMonitor, method: MethodHealth, now: Date): HealthRow {
  const { account, payment_method, counts, answeredAt, paidAt, unknownCodes, lastError } = method
  const monotonic = performance.now()
  const dateOf = (at: number | null) => (at === null ? null : new Date(now.getTime() - (monotonic - at)))
  const pauseMs = monitor.pauseMs()
  return {
    ...counts,
    node,
    provider_account: account,
    payment_method,
    breaker: monitor.circuitState(),
    rest_until: pauseMs > 0 ? new Date(now.getTime() + pauseMs) : null,
    answered_at: dateOf(answeredAt),
    paid_at: dateOf(paidAt),
    unknown_codes: [...unknownCodes].map(([sample, count]) => ({ sample, count })),
    last_error: lastError?.words ?? null,
    last_error_at: dateOf(lastError?.at ?? null),
    is_refused: lastError?.isRefusal ?? false,
    written_at: now,
  }
}

type ProbeDeps = { providerAccounts: Pick<ProviderAccounts, 'find'>; monitors: HealthMonitors }

// Probes accounts whose breaker is probing by a check of their credentials, which charges nothing. So an account recovers
// without an order of a customer. Resolves when all probes have ended.
export function createProber({ providerAccounts, monitors }: ProbeDeps) {
  const probedAt = new Map<string, number>()

  async function probe(monitor: AccountMonitor) {
    const opened = providerAccounts.find(monitor.account)
    const check = opened?.checkCredentials
    if (!opened || !check) return
    const recordCall = monitor.trackCall('ask', 'test')
    const checked = withinDeadline(check, timerOf(opened.pollTimeoutMs), 'no answer in time')
    const isAnswered = await checked.then(
      ({ isValid }) => isValid,
      () => false,
    )
    recordCall(isAnswered ? 'answered' : 'unanswered')
  }

  return async () => {
    const now = performance.now()
    const waiting = monitors.all().filter(monitor => monitor.isAwaitingProbe())
    for (const account of probedAt.keys())
      if (!waiting.some(monitor => monitor.account === account)) probedAt.delete(account)
    const due = waiting.filter(({ account }) => now - (probedAt.get(account) ?? -Infinity) >= probeEveryMs)
    for (const { account } of due) probedAt.set(account, now)
    await Promise.all(due.map(probe))
  }
}

type TaskDeps = Pick<Runtime, 'db' | 'clock' | 'watch'>

// Raises a task if a provider refuses the credentials of an account, on the attempt that was refused first. All nodes and
// attempts share one task for each account. It is closed when the provider accepts the credentials again.
export async function raiseRefusals({ monitors, ...deps }: TaskDeps & { monitors: HealthMonitors }) {
  for (const monitor of monitors.all()) {
    const change = monitor.credentialsChange
    if (!change) continue
    await saveCredentialsChange(deps, change)
    if (monitor.credentialsChange === change) monitor.credentialsChange = undefined
  }
}

async function saveCredentialsChange({ db, clock, watch }: TaskDeps, change: CredentialsChange) {
  const { account, refused } = change
  const now = clock()
  if (!refused) {
    await closeRefusalTasks(db, account, 'The provider accepts the credentials again.', now)
    return
  }
  const { attempt_id, words } = refused
  const note = `The provider refuses the credentials of ${account}: ${words}`
  const raised = await changingAccounts(db, async tx => {
    if (await hasRefusalTask(tx, account)) return undefined
    const attempt = await findAttempt(tx, merchantOfToken(attempt_id), attempt_id)
    const task = attempt && (await reopenTaskOf(tx, attempt, 'account_refused', note, now))
    return task && { attempt, task }
  })
  if (raised) watch({ attempt: raised.attempt, events: [], tasks: [raised.task] })
}

export type MethodStatus = { account: string; payment_method: string; open_attempts: number } & HealthSummary

// Every payment method of every account that a node has called in the last days, or that has open attempts.
export async function readProviderStatus(db: Db, now: Date): Promise<MethodStatus[]> {
  const [health, counts] = [await listHealth(db), await countOpenAttempts(db)]
  const keys = new Map([...health, ...counts].map(one => [keyOf(one), one]))
  return [...keys]
    .map(([key, { provider_account: account, payment_method }]) => {
      const summary = summarizeHealth(
        health.filter(row => keyOf(row) === key),
        now,
      )
      const open_attempts = counts.find(count => keyOf(count) === key)?.open ?? 0
      return { account, payment_method, ...summary, open_attempts }
    })
    .toSorted(
      (a, b) => a.account.localeCompare(b.account) || a.payment_method.localeCompare(b.payment_method),
    )
}

const keyOf = (row: { provider_account: string; payment_method: string }) =>
  `${row.provider_account} ${row.payment_method}`
