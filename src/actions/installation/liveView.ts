import type { Mode } from '../../core/mode.ts'
import {
  comparedRate,
  findConcerns,
  flowPoints,
  nodeStateOf,
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
import { readNodeLabel } from '../../core/operator/nodeLabel.ts'
import { type HealthRow, summarizeHealth } from '../../core/provider/health.ts'
import { startOfDay } from '../../core/zone.ts'
import type { Db } from '../../store/db.ts'
import { busiestMinute, nodeMinutesBetween } from '../../store/installation/nodeMinutes.ts'
import { listNodeLabels } from '../../store/nodeSession.ts'
import { countWaitingDeliveries, failingLanes } from '../../store/notifications/failingEndpoints.ts'
import { listHealth } from '../../store/providers/health.ts'
import { countOpenTasks } from '../../store/payments/tasks.ts'
import { newestOpenTasks } from '../../store/payments/taskInbox.ts'

const shownMinutes = 60
const judgedMinutes = 15
const dayMs = 86_400_000

// An account as the page of accounts and the live view show it.
export type ListedAccount = { account: string; mode: Mode; methods: readonly string[]; isDisabled: boolean }

type LiveOptions = {
  mode: Mode
  now: Date
  zone: string
  accounts: readonly ListedAccount[] // of this mode
}

export type LiveView = Awaited<ReturnType<typeof readLiveView>>

// Everything on the operator's first page. Each statement reads a bounded number of rows.
export async function readLiveView(db: Db, { mode, now, zone, accounts }: LiveOptions) {
  const until = new Date(minuteOf(now).getTime() + minuteMs)
  const ago = (minutes: number, from = until) => new Date(from.getTime() - minutes * minuteMs)
  const yesterday = new Date(until.getTime() - dayMs)
  const [rows, before, peak, waiting, endpoints, nodeRows, health, tasks, openTasks] = await Promise.all([
    nodeMinutesBetween(db, ago(shownMinutes + 1), until),
    nodeMinutesBetween(db, ago(judgedMinutes, yesterday), yesterday),
    busiestMinute(db, mode, startOfDay(now, zone)),
    countWaitingDeliveries(db, mode),
    failingLanes(db, mode),
    listNodeLabels(db),
    listHealth(db),
    newestOpenTasks(db, 3),
    countOpenTasks(db),
  ])
  const recent = rows.filter(({ minute }) => minute >= ago(judgedMinutes))
  const counts = sumMinutes(recent)
  const judged = accounts.map(account => ({
    ...account,
    ...accountFigures(account, counts.ended, health, now),
  }))
  const nodes = nodesOf(nodeRows)
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
    concerns: findConcerns({ accounts: judged, nodes, openTasks, failingEndpoints: endpoints.length }),
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

function nodesOf(rows: readonly { number: number; label: string; connected_at: Date }[]) {
  const read = rows.map(({ label, connected_at }) => ({ connected_at, facts: readNodeLabel(label) }))
  const schema = Math.max(0, ...read.map(({ facts }) => facts?.schema ?? 0))
  return read.map(({ facts, connected_at }) => ({
    name: facts?.name ?? '?',
    facts,
    connected_at,
    state: nodeStateOf(facts, schema),
  }))
}
