import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Installation } from '../installation.ts'
import type { Fault } from './fault.ts'

// A container may have the program, and forbid it.
const mayTrace = () => spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status === 0

// The disk of the database is full: PostgreSQL may stop, and starts again when there is room.
export const fullDisk: Fault = {
  name: 'disk full',
  needs: ({ database: { one } }: Installation) =>
    one?.hasOwnDisk ? undefined : 'root, who mounts a small file system for the database of one server',
  async inject({ installation: { database }, isLong, servesAgain }) {
    const { one } = database
    if (!one) return
    const ballast = join(one.folder, 'ballast')
    fillDisk(ballast)
    try {
      for (let n = 0; n < (isLong ? 10 : 4); n++) {
        await sleep(1000)
        fillDisk(ballast) // what PostgreSQL gave back
      }
    } finally {
      rmSync(ballast, { force: true })
    }
    await one.ensureRunning()
    await servesAgain('serves after the database accepts writes')
  },
}

function fillDisk(path: string) {
  const file = openSync(path, 'a')
  try {
    for (const size of [4 * 1024 * 1024, 4096, 1]) {
      const zeros = Buffer.alloc(size)
      try {
        for (;;) writeSync(file, zeros)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
  } finally {
    closeSync(file)
  }
}

// PostgreSQL stops all sessions when its log cannot be written, and recovers.
export const failedSyncs: Fault = {
  name: 'fsync errors',
  needs: ({ database: { one } }: Installation) => {
    if (!one) return 'a database of one server'
    return mayTrace() ? undefined : 'strace (apt-get install strace), and the right to trace processes'
  },
  async inject({ installation: { database }, isLong, servesAgain, say }) {
    const { one } = database
    if (!one) return
    for (let n = 0; n < (isLong ? 3 : 1); n++) {
      const pids = [one.pid(), ...one.children()].flatMap(pid => ['-p', String(pid)])
      const what = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:error=EIO:when=5+3']
      const strace = spawn('strace', ['-f', '-qq', '-o', '/dev/null', ...what, ...pids], { stdio: 'ignore' })
      const ended = once(strace, 'exit')
      await sleep(2500)
      strace.kill('SIGTERM') // detaches
      await ended
      say('the disk works again')
      await one.ensureRunning()
      await servesAgain('serves after the database accepts writes')
    }
  },
}

// The clock jumps to and fro, by less than a provider's promises allow for.
export const databaseClock: Fault = {
  name: 'clock jumps of the database',
  needs: ({ database: { one } }: Installation) => {
    if (!one) return 'a database of one server'
    return one.setClock ? undefined : 'libfaketime: apt-get install faketime'
  },
  async inject({ installation: { database }, isLong, chance, servesAgain, say }) {
    const { one } = database
    for (let n = 0; n < (isLong ? 4 : 2); n++) {
      const seconds = Math.floor((chance.random() - 0.5) * 240)
      say(`${seconds} s`)
      one?.setClock?.(seconds)
      await sleep(isLong ? 5000 : 3000)
    }
    one?.setClock?.(0)
    await servesAgain('serves after the fault')
  },
}
