// A gateway as it ships, in a separate process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { masterKey } from '../rows/database.js'
import { cpuMs, cpuMsOfFamily, memoryMb, peakMemoryMb } from './usage.js'

// What makes (b) of it: every request its own statement, and as many at once as (a) has, which is half of its pool.
export const oneStatementEach = { TOLLGATE_BATCH_ROWS: '1', TOLLGATE_POOL_SIZE: '64' }

// A gateway whose customers come from many addresses, as a proxy reports: pages are rate limited by them.
export const behindProxy = { TOLLGATE_TRUST_PROXY: '1' }

// A node that may notify endpoints on this machine.
export const toThisMachine = { TOLLGATE_EGRESS_LOOPBACK: 'on' }
export const nodeEnv = url => ({ DATABASE_URL: url, TOLLGATE_MASTER_KEY: masterKey, ...toThisMachine })

// As the first line of the program has it, and with a profile of its CPU time in a folder. A gateway that root starts
// becomes another user before it writes the profile.
function profiled(folder) {
  mkdirSync(folder, { recursive: true })
  if (process.getuid?.() === 0) chmodSync(folder, 0o777)
  return ['--max-semi-space-size=32', '--cpu-prof', `--cpu-prof-dir=${folder}`]
}

const nobody = 65_534

// Root may not run several processes. The socket of the bench's database admits the members of a group.
function ordinaryUser(url) {
  if (process.getuid?.() !== 0) return {}
  const sockets = decodeURIComponent(/[?&]host=([^&]+)/.exec(url)?.[1] ?? '')
  return { uid: nobody, gid: statSync(sockets).gid }
}

// Of the version that the database was made by.
/** @type {(database: any, env?: Record<string, string>, profiles?: string) => Promise<any>} */
export async function startGateway({ url, merchant, version }, env = {}, profiles) {
  const [program, ...flags] = profiles
    ? [process.execPath, ...profiled(profiles), version.program]
    : [version.program]
  const hasSeveral = Number(env.TOLLGATE_PROCESSES ?? 1) > 1
  const child = spawn(program, [...flags, 'start', '--json'], {
    ...(hasSeveral && ordinaryUser(url)),
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: '0',
      DATABASE_URL: url,
      TOLLGATE_MASTER_KEY: masterKey,
      TOLLGATE_STOP_SECONDS: '0', // no load balancer watches it
      ...env,
    },
    stdio: ['ignore', 'pipe', 'ignore'], // its log is written in full, and thrown away
  })
  const ended = once(child, 'exit')
  const line = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([text]) => text),
    ended.then(([code]) => Promise.reject(new Error(`The gateway ended with ${code}; npm start tells why.`))),
  ])
  let peakMb // when it has ended
  return {
    merchant,
    port: Number(new URL(JSON.parse(line).url).port),
    cpuMs: () => (hasSeveral ? cpuMsOfFamily(child.pid) : cpuMs(child.pid)),
    memoryMb: () => memoryMb(child.pid),
    peakMemoryMb: () => peakMb ?? peakMemoryMb(child.pid),
    pause: () => child.kill('SIGSTOP'),
    goOn: () => child.kill('SIGCONT'),
    kill: async () => {
      peakMb = peakMemoryMb(child.pid)
      child.kill('SIGKILL')
      await ended
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGCONT') // a paused process handles no signal
      peakMb = peakMemoryMb(child.pid)
      child.kill('SIGTERM')
      await ended
    },
  }
}
