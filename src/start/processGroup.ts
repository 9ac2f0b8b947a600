import cluster, { type Worker } from 'node:cluster'
import type { MetricsGroup } from '../observe/metrics.ts'

// The messages between the supervisor and the processes that it runs (TOLLGATE_PROCESSES). A process asks for its place
// when it listens for messages: those that come earlier would be lost.
export type ToProcess =
  | { is: 'place'; process: number; version: string; isFirst: boolean }
  | { is: 'stop' }
  | { is: 'read metrics'; request: number }
  | { is: 'metrics of others'; request: number; pages: readonly string[] }

export type ToSupervisor =
  | { is: 'ready for its place' }
  | { is: 'listening' }
  | { is: 'read metrics of others'; request: number }
  | { is: 'metrics'; request: number; page: string }

// What a process can do because others share its port.
export type ProcessGroup = MetricsGroup & {
  isFirst: boolean // of the start: it prints the banner
  listening(): void
  leave(): void // closes the channel to the supervisor, which would keep this process alive
}

export class OtherVersion extends Error {}

// Resolves when the supervisor has given this process its place. If the supervisor ends, Node ends this process.
export function joinGroup(version: string, onStop: () => void): Promise<ProcessGroup> {
  const worker = cluster.worker as Worker
  const send = (message: ToSupervisor) => void (worker.isConnected() && worker.send(message, () => {}))
  const scrapes = new Map<number, (pages: readonly string[]) => void>()
  let requests = 0
  let readOwn: (() => Promise<string>) | undefined
  return new Promise((resolve, reject) => {
    worker.on('message', (message: ToProcess) => {
      if (message.is === 'stop') onStop()
      else if (message.is === 'read metrics')
        void readOwn?.().then(page => send({ is: 'metrics', request: message.request, page }))
      else if (message.is === 'metrics of others') {
        scrapes.get(message.request)?.(message.pages)
        scrapes.delete(message.request)
      } else if (message.version !== version)
        reject(
          new OtherVersion(
            `The files are those of Tollgate ${version} now, and version ${message.version} runs: restart it.`,
          ),
        )
      else
        resolve({
          process: message.process,
          isFirst: message.isFirst,
          listening: () => send({ is: 'listening' }),
          leave: () => worker.disconnect(),
          shareMetrics: read => void (readOwn = read),
          metricsOfOthers: () =>
            new Promise(answer => {
              scrapes.set(++requests, answer)
              send({ is: 'read metrics of others', request: requests })
            }),
        })
    })
    send({ is: 'ready for its place' })
  })
}
