import cluster, { type Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import type { Logger } from 'pino'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { restartPauseMs, startSupervisor } from '../../src/start/supervisor.ts'

test('a process that ends again and again is started after growing pauses, up to half a minute', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 100].map(restartPauseMs)).toEqual([
    250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000,
  ])
})

function listeningWorker() {
  const worker = Object.assign(new EventEmitter(), {
    process: { pid: 1 },
    isConnected: () => true,
    send: ({ is }: { is: string }) => is === 'stop' && worker.emit('exit', 0, null),
  })
  setImmediate(() => worker.emit('message', { is: 'listening' }))
  return worker as unknown as Worker
}

describe('a process that cannot be started', () => {
  const cwd = process.cwd()
  const fork = cluster.fork.bind(cluster)
  afterEach(() => {
    vi.restoreAllMocks()
    vi.clearAllMocks()
    cluster.setupPrimary({ cwd })
  })

  // As if there were no memory for it, and as if the machine had no more processes: Node throws the one and emits the other.
  const causes: [string, () => Worker][] = [
    [
      'throws',
      () => {
        throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM' })
      },
    ],
    [
      'is an event',
      () => {
        cluster.setupPrimary({ cwd: '/nowhere' })
        return fork()
      },
    ],
  ]

  const log = { info: vi.fn<() => void>(), warn: vi.fn<() => void>(), error: vi.fn<() => void>() }
  const supervise = (processes: number) => startSupervisor(processes, '1.0.0', log as unknown as Logger)

  for (const [how, fail] of causes) {
    test(`and whose error ${how} ends the start if it is the first`, async () => {
      vi.spyOn(cluster, 'fork').mockImplementation(fail)
      const supervisor = supervise(2)
      expect(await supervisor.started).toBe(70)
      await supervisor.stop()
    })

    test(`and whose error ${how} is started again, and does not hold up the stop`, async () => {
      const forks = vi.spyOn(cluster, 'fork').mockImplementation(fail).mockImplementationOnce(listeningWorker)
      const supervisor = supervise(2)
      expect(await supervisor.started).toBeUndefined()
      await vi.waitFor(() => expect(forks).toHaveBeenCalledTimes(3))
      forks.mockImplementation(listeningWorker)
      await vi.waitFor(() => expect(log.info).toHaveBeenCalledTimes(2))
      expect(log.error).toHaveBeenCalledWith(
        expect.objectContaining({ process: 2, error: expect.stringMatching(/ENOMEM|ENOENT/), pause_ms: 250 }),
        'a process could not be started; it is tried again',
      )
      await supervisor.stop()
    })
  }
})
