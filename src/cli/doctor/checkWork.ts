import { lastBackupAt } from '../../actions/backups/lastBackupAt.ts'
import { listNodes } from '../../actions/installation/nodes.ts'
import type { Config } from '../../config.ts'
import { isBackupOld } from '../../core/backup/backupAge.ts'
import { lackWorkers, type NodeRole, nodeRoles } from '../../core/operator/nodeList.ts'
import { newSession, operatorKeys, sessionCookie } from '../../core/operator/operatorKeys.ts'
import { listenUrl } from '../../core/networkSettings.ts'
import type { Db } from '../../store/db.ts'
import { hasLivePayments } from '../../store/installation/copies.ts'
import { findInstallation, openInstallation } from '../../store/installation/installation.ts'
import { countExhausted } from '../../store/notifications/notificationList.ts'
import { countOpenTasks } from '../../store/payments/tasks.ts'
import { baseUrlOf } from '../baseUrl.ts'
import { type Check, checkFailed, checkOk, checkWarning } from './check.ts'
import { presentMasterKeys } from './checkMachine.ts'

const days = 7
const mostCounted = 10_000 // per merchant
const metricsTimeoutMs = 2000
const sessionLastsSeconds = 60

export async function checkTasks(db: Db): Promise<Check> {
  const open = await countOpenTasks(db)
  if (open === 0) return checkOk('tasks', 'no open tasks')
  return checkWarning('tasks', open === 1 ? '1 open task' : `${open} open tasks`, 'See tollgate task list.')
}

// No result while there are test payments only.
export async function checkBackup(db: Db, now: Date): Promise<Check | undefined> {
  const [at, hasLive] = await Promise.all([lastBackupAt(db), hasLivePayments(db)])
  if (!hasLive) return undefined
  const todo = 'Run tollgate backup every night (docs/backup.md). A backup by other means is not known here.'
  if (!at) return checkWarning('backup', 'none was made by tollgate backup', todo)
  const hours = Math.round((now.getTime() - at.getTime()) / 3_600_000)
  const fact = hours === 0 ? 'the last one is less than an hour old' : `the last one is ${hours} h old`
  return isBackupOld(at, now) ? checkWarning('backup', fact, todo) : checkOk('backup', fact)
}

export async function checkDeliveries(db: Db, now: Date): Promise<Check> {
  const exhausted = await countExhausted(db, new Date(now.getTime() - days * 86_400_000), mostCounted)
  if (exhausted === 0) return checkOk('deliveries', `none was exhausted in the last ${days} days`)
  const count = exhausted === 1 ? '1 was' : `${exhausted}${exhausted >= mostCounted ? ' or more' : ''} were`
  const fact = `${count} exhausted in the last ${days} days: never acknowledged`
  return checkWarning('deliveries', fact, 'See tollgate notification list --state exhausted.')
}

// No result while no node runs.
export async function checkWorkers(db: Db): Promise<Check | undefined> {
  const nodes = (await listNodes(db)).filter(({ presence }) => presence !== 'gone')
  if (lackWorkers(nodes))
    return checkFailed(
      'workers',
      'web nodes run, and no node with workers was seen for a minute: nothing is sent, polled or ended',
      'Start a node with TOLLGATE_ROLE=worker, or all.',
    )
  const count = (role: NodeRole) => nodes.filter(({ row }) => (row?.role ?? 'all') === role).length
  const counted = nodeRoles.flatMap(role => (count(role) > 0 ? `${count(role)} ${role}` : []))
  return counted.length > 0 ? checkOk('workers', `nodes by role: ${counted.join(', ')}`) : undefined
}

// Whether the workers of the gateway on this machine are paused because a clock jumped. No result if no gateway runs
// here, or its metrics cannot be read.
export async function checkPause(db: Db, config: Config, now: Date): Promise<Check | undefined> {
  const metrics = await readMetrics(db, config, now)
  if (!/^tollgate_workers_paused(\{[^}]*\})? 1$/m.test(metrics)) return undefined
  const [, seconds = '0'] =
    /^tollgate_clock_offset_seconds\{[^}]*="database"[^}]*\} (\S+)$/m.exec(metrics) ?? []
  return checkWarning(
    'workers',
    `the gateway on ${config.PORT} polls, expires and sends nothing: the clock of the database jumped by ${seconds} s`,
    'It continues when the old time is back, or when the new time has been stable for a minute. If the jump was not ' +
      'intended, correct the clock of the database server before that.',
  )
}

async function readMetrics(db: Db, config: Config, now: Date): Promise<string> {
  const { HOST, PORT } = config
  if (PORT === 0) return ''
  try {
    const response = await fetch(`${listenUrl(HOST, PORT)}/metrics`, {
      headers: await credentials(db, config, now),
      signal: AbortSignal.timeout(metricsTimeoutMs),
    })
    return response.ok ? await response.text() : ''
  } catch {
    return ''
  }
}

// Sends a short session instead of the support token: if no gateway runs, another program may listen on its port. The
// session starts at the later of two clocks, because the database's may be the one that jumped.
async function credentials(db: Db, config: Config, now: Date): Promise<Record<string, string>> {
  const [token] = config.TOLLGATE_METRICS_TOKEN ?? []
  if (token) return { authorization: `Bearer ${token}` }
  const masterKeys = presentMasterKeys(config)
  const stored = await findInstallation(db)
  if (!masterKeys || !stored) return {}
  const { supportToken } = openInstallation(masterKeys, stored)
  const keys = operatorKeys(supportToken, config.TOLLGATE_SUPPORT_TOKEN)
  const begin = new Date(Math.max(now.getTime(), Date.now()))
  return { cookie: `${sessionCookie(baseUrlOf(config))}=${newSession(keys, begin, sessionLastsSeconds)}` }
}
