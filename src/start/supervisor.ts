import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { ToProcess, ToSupervisor } from './processGroup.ts'

// Not the launcher, which builds the program when its sources have changed: what runs would become two versions.
const program = fileURLToPath(new URL('../cli.js', import.meta.url))

const firstPauseMs = 250
const mostPauseMs = 30_000
const servedWellMs = 60_000 // a process that has listened for so long begins with the first pause again
const metricsTimeoutMs = 3000 // more than one gauge may take

// How long the supervisor waits before it starts a process again that has ended `times` times in a row.
export const restartPauseMs = (times: number) => Math.min(mostPauseMs, firstPauseMs * 2 ** (times - 1))

export type Supervisor = {
  started: Promise<number | undefined> // when the first process listens; its exit code if it never did
  stop(): Promise<void> // each process ends gracefully
}

// One of the processes that share the port.
//
//   starting --it listens--> listening
//   starting, listening --it ends--> pausing --restartPauseMs--> starting
//   any --stop--> stopping: what ends is not started again
type Place = {
  process: number
  worker?: Worker
  listensSince?: number
  endings: number // in a row
}

// Node throws some errors of a start, such as no memory, and emits others, such as too many processes, without an exit.
type Ending = { code: number | null; signal: string | null } | { error: string }

// Runs the processes of a gateway behind one port. The first one starts alone: it checks and migrates the database and may
// fail. The others start when it listens. All accept from the same socket, which the kernel distributes: with Node's other
// policy the supervisor would accept and pass each connection on, and those on their way to a process that is killed
// would never be answered.
export function startSupervisor(count: number, version: string, log: Logger): Supervisor {
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ exec: program })
  const places: Place[] = Array.from({ length: count }, (_, at) => ({ process: at + 1, endings: 0 }))
  const [first, ...others] = places as [Place, ...Place[]]
  const metrics = createMetricsRelay(places)
  const stopping = new AbortController()
  const ended = new Set<Promise<unknown>>()
  let isStarted = false

  const started = new Promise<number | undefined>(resolve => {
    function run(place: Place) {
      let worker: Worker
      try {
        worker = cluster.fork()
      } catch (error) {
        return onEnd(place, { error: (error as Error).message })
      }
      place.worker = worker
      place.listensSince = undefined
      const end = new Promise<void>(over => {
        const onceEnded = (how: Ending) => {
          if (!ended.delete(end)) return
          over()
          onEnd(place, how)
        }
        worker.once('exit', (code, signal) => onceEnded({ code, signal }))
        worker.on('error', ({ message: error }) => {
          if (worker.process.pid === undefined) onceEnded({ error })
          else log.warn({ process: place.process, error }, 'a message failed')
        })
      })
      ended.add(end)
      worker.on('message', (message: ToSupervisor) => onMessage(place, worker, message))
    }

    function onMessage(place: Place, worker: Worker, message: ToSupervisor) {
      if (message.is === 'read metrics of others') void metrics.answer(place, message.request)
      else if (message.is === 'metrics') metrics.receive(message.request, message.page)
      else if (message.is === 'ready for its place') {
        const isFirst = place === first && !isStarted
        send(worker, { is: 'place', process: place.process, version, isFirst })
        if (stopping.signal.aborted) send(worker, { is: 'stop' })
      } else {
        place.listensSince = performance.now()
        log.info({ process: place.process, pid: worker.process.pid }, 'process started')
        if (isStarted) return
        isStarted = true
        if (!stopping.signal.aborted) others.forEach(run)
        resolve(undefined)
      }
    }

    function onEnd(place: Place, how: Ending) {
      const { listensSince } = place
      place.worker = undefined
      place.listensSince = undefined
      if (!isStarted) {
        if ('error' in how)
          log.error({ process: place.process, ...how }, 'the first process could not be started')
        return resolve('error' in how ? failedToStart : (how.code ?? failedToStart))
      }
      if (stopping.signal.aborted) return
      const hasServedWell = listensSince !== undefined && performance.now() - listensSince >= servedWellMs
      place.endings = hasServedWell ? 1 : place.endings + 1
      const pauseMs = restartPauseMs(place.endings)
      log.error(
        { process: place.process, ...how, pause_ms: pauseMs },
        'error' in how
          ? 'a process could not be started; it is tried again'
          : 'a process ended; it is started again',
      )
      sleep(pauseMs, undefined, { signal: stopping.signal }).then(
        () => run(place),
        () => {}, // stopped meanwhile
      )
    }

    run(first)
  })

  return {
    started,
    async stop() {
      stopping.abort()
      for (const { worker } of places) if (worker) send(worker, { is: 'stop' })
      while (ended.size > 0) await Promise.all(ended)
    },
  }
}

const failedToStart = 70

const send = (worker: Worker, message: ToProcess) =>
  void (worker.isConnected() && worker.send(message, () => {})) // a process that has just ended needs none

// A scrape reaches one process, which gets the pages of the others from here. One that does not answer in time is left out.
function createMetricsRelay(places: readonly Place[]) {
  const pending = new Map<number, (page: string | undefined) => void>()
  let requests = 0

  function read(worker: Worker): Promise<string | undefined> {
    const request = ++requests
    return new Promise(resolve => {
      const timer = setTimeout(() => settle(undefined), metricsTimeoutMs)
      const settle = (page: string | undefined) => {
        clearTimeout(timer)
        pending.delete(request)
        resolve(page)
      }
      pending.set(request, settle)
      send(worker, { is: 'read metrics', request })
    })
  }

  return {
    receive: (request: number, page: string) => pending.get(request)?.(page),
    async answer({ process, worker }: Place, request: number) {
      const others = places.filter(other => other.process !== process && other.listensSince !== undefined)
      const pages = await Promise.all(others.map(other => read(other.worker as Worker)))
      if (worker)
        send(worker, { is: 'metrics of others', request, pages: pages.filter(page => page !== undefined) })
    },
  }
}
