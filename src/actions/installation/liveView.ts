import type { InstallationState } from '../../core/installation/installationState.ts'
import type { Mode } from '../../core/mode.ts'
import {
  comparedRate,
  findConcerns,
  flowPoints,
  startedPerSecond,
  sumMinutes,
} from '../../core/operator/liveFigures.ts'
import {
  delayQuantileMs,
  endedIn,
  endedTotal,
  meanSecondsToPay,
  minuteMs,
  minuteOf,
  successRate,
} from '../../core/operator/minuteCounts.ts'
import { lackWorkers } from '../../core/operator/nodeList.ts'
import { type HealthRow, summarizeHealth } from '../../core/provider/health.ts'
import { startOfDay } from '../../core/zone.ts'
import { lastBackup } from '../../store/backups/backups.ts'
import type { Db } from '../../store/db.ts'
import { busiestMinute, nodeMinutesBetween } from '../../store/installation/nodeMinutes.ts'
import { countWaitingDeliveries, failingLanes } from '../../store/notifications/failingEndpoints.ts'
import { listHealth } from '../../store/providers/health.ts'
import { countOpenTasks } from '../../store/payments/tasks.ts'
import { newestOpenTasks } from '../../store/payments/taskInbox.ts'
import { listNodes } from './nodes.ts'
import type { UnreadableSecrets } from './unreadableSecrets.ts'

const shownMinutes = 60
const judgedMinutes = 15
const dayMs = 86_400_000

// An account as the page of accounts and the live view show it.
export type ListedAccount = { account: string; mode: Mode; methods: readonly string[]; isDisabled: boolean }

const shownEndpoints = 20
const listedEndpoints = 200

type LiveOptions = {
  mode: Mode
  now: Date
  zone: string
  accounts: readonly ListedAccount[] // of this mode
  takesLivePayments: boolean
  installation: InstallationState
  unreadable?: Promise<readonly UnreadableSecrets[]> // for the concerns
}

// Those that the live view has no room for, too.
export const listFailingEndpoints = (db: Db, mode: Mode) => failingLanes(db, mode, listedEndpoints)

export type FailingEndpoints = Awaited<ReturnType<typeof listFailingEndpoints>>

export type LiveView = Awaited<ReturnType<typeof readLiveView>>

// Everything on the operator's first page. Each statement reads a bounded number of rows.
export async function readLiveView(db: Db, options: LiveOptions) {
  const { mode, now, zone, accounts, takesLivePayments } = options
  const until = new Date(minuteOf(now).getTime() + minuteMs)
  const ago = (minutes: number, from = until) => new Date(from.getTime() - minutes * minuteMs)
  const yesterday = new Date(until.getTime() - dayMs)
  const [rows, before, peak, waiting, endpoints, nodes, health, tasks, openTasks, unreadable, backup] =
    await Promise.all([
      nodeMinutesBetween(db, ago(shownMinutes + 1), until),
      nodeMinutesBetween(db, ago(judgedMinutes, yesterday), yesterday),
      busiestMinute(db, mode, startOfDay(now, zone)),
      countWaitingDeliveries(db, mode),
      failingLanes(db, mode, shownEndpoints),
      listNodes(db),
      listHealth(db),
      newestOpenTasks(db, 3),
      countOpenTasks(db),
      options.unreadable ?? [],
      lastBackup(db),
    ])
  const recent = rows.filter(({ minute }) => minute >= ago(judgedMinutes))
  const counts = sumMinutes(recent)
  const judged = accounts.map(account => ({
    ...account,
    ...accountFigures(account, counts.ended, health, now),
  }))
  return {
    mode,
    now,
    perSecond: startedPerSecond(rows, mode, now),
    peak: peak && { minute: peak.minute, perSecond: peak.started / 60 },
    ...comparedRate(recent, before, mode),
    p95Ms: delayQuantileMs(counts.delays, 0.95),
    refused: counts.refused,
    waiting,
    endpoints,
    points: flowPoints(rows, mode, ago(shownMinutes + 1), ago(1)), // whole minutes
    accounts: judged,
    nodes,
    tasks,
    openTasks,
    backup,
    concerns: findConcerns({
      now,
      installation: options.installation.is,
      oldPrimaries: db.oldPrimaries(),
      lastBackupAt: backup?.taken_at,
      takesLivePayments,
      accounts: judged,
      nodes,
      lackWorkers: lackWorkers(nodes),
      unreadable: unreadable.map(({ merchant_name }) => merchant_name),
      openTasks,
      failingEndpoints: endpoints.length,
    }),
  }
}

type Ended = Parameters<typeof endedIn>[0]

// The rates of the last minutes and the present health of one account, over all of its payment methods.
function accountFigures(
  { account, mode }: ListedAccount,
  ended: Ended,
  health: readonly HealthRow[],
  now: Date,
) {
  const counts = endedIn(ended, mode, account)
  const summary = summarizeHealth(
    health.filter(row => row.provider_account === account),
    now,
  )
  return {
    perSecond: endedTotal(counts) / (judgedMinutes * 60),
    rate: successRate(counts),
    secondsToPay: meanSecondsToPay(counts),
    health: summary.health,
    isRefused: summary.is_refused,
    lastError: summary.last_error,
    lastErrorAt:
      summary.last_error_seconds_ago === null
        ? undefined
        : new Date(now.getTime() - summary.last_error_seconds_ago * 1000),
  }
}

export type LiveAccount = LiveView['accounts'][number]
