import { type DatabaseRoute, judgeAndRecord, type Judged } from '../actions/installation/judgeDatabase.ts'
import type { Pause } from '../core/databaseClock.ts'
import type { InstallationState, RecordReason } from '../core/installation/installationState.ts'
import type { Heartbeats } from '../runtime/heartbeats.ts'
import { newPause } from '../runtime/pause.ts'
import { startLoop } from './loop.ts'

const restMs = 5000
const unsureRestMs = 1000 // on a copy: a node at a known address may show that it is none
const timeoutMs = 5000

// For the operator.
export type InstallationLog = {
  changed(state: InstallationState): void // also called once at the start, unless it is the original
  recorded(address: string, reason: RecordReason): void
  trouble(error: unknown): void
}

export type InstallationWatch = {
  state(): InstallationState // as of the last check
  pause: Pause // until the database is known to be the original
  onOriginal(listener: () => void): void // called at once, or when the database has become the original
  stop(): Promise<void>
}

// Whether this node works on the installation itself or on a copy of its database: checked before any worker starts, every
// five seconds, and after every connection to another server. A failed check changes nothing, except that workers which pause
// for it go on pausing.
export async function watchInstallation(
  { db, ...route }: DatabaseRoute,
  log: InstallationLog,
  heartbeats?: Heartbeats,
): Promise<InstallationWatch> {
  const ownQuota = db.withQuota('health')
  const inTime = () => ownQuota.withDeadline(performance.now() + timeoutMs)
  let judged: Judged = await judgeAndRecord({ ...route, db: ownQuota })
  let requests = 0 // of checks
  let checked = 0 // the requests that a check has answered
  let pausing: ReturnType<typeof newPause> | undefined
  let waiting: (() => void)[] = []
  report(judged)
  if (judged.state.is !== 'original') log.changed(judged.state)

  function report({ records }: Judged) {
    if (records) log.recorded(route.address, records)
  }

  async function step() {
    const before = judged
    const answered = requests // what connects during the check is checked next
    judged = await judgeAndRecord({ ...route, db: inTime() }, before, checked === answered)
    checked = answered
    report(judged)
    if (!isSameState(before.state, judged.state)) log.changed(judged.state)
    if (!isPaused()) resume()
  }

  const isPaused = () => checked < requests || judged.state.is !== 'original'

  function resume() {
    pausing?.end()
    pausing = undefined
    const listeners = waiting
    waiting = []
    for (const listener of listeners) listener()
  }

  let isFirst = true
  const loop = startLoop({
    restMs: () => (isPaused() ? unsureRestMs : restMs),
    async step() {
      if (!isFirst) await step() // the first check was above
      isFirst = false
    },
    onTrouble: log.trouble,
    heartbeat: heartbeats?.of('installation'),
  })

  // Workers pause until the other server is checked.
  db.onServerChange(() => {
    requests++
    loop.wake()
  })
  return {
    state: () => judged.state,
    pause() {
      if (!isPaused()) return undefined
      pausing ??= newPause()
      return pausing.over
    },
    onOriginal(listener) {
      if (isPaused()) waiting.push(listener)
      else listener()
    },
    stop: loop.stop,
  }
}

const isSameState = (a: InstallationState, b: InstallationState) => JSON.stringify(a) === JSON.stringify(b)
