// A program as a child process in its own folder, with its output.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const patienceMs = 180_000 // on a busy machine RabbitMQ takes its time
const lookMs = 50
const endMs = 20_000
const msPerTick = 10
const tailLength = 600

const signalGroup = (pid, signal) => process.kill(0 - pid, signal)

// Whatever ends the bench ends them too.
const running = new Set()
process.on('exit', () => {
  for (const pid of running) signalGroup(pid, 'SIGKILL')
})

// Ready when something listens at the port, or `isReady` says so.
/** @typedef {{ folder: string, name: string, env?: object, port: number, isReady?: () => any }} ChildOptions */

/** @type {(program: string, args: string[], options: ChildOptions) => Promise<any>} */
export async function startChild(program, args, { folder, name, env, port, isReady = () => isOpen(port) }) {
  mkdirSync(folder, { recursive: true })
  const log = join(folder, `${name}.log`)
  const out = openSync(log, 'a')
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...basics(), ...env },
    stdio: ['ignore', out, out],
    detached: true, // its own process group: a script does not forward signals
  })
  running.add(child.pid)
  const ended = once(child, 'exit').finally(() => running.delete(child.pid))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const failed = why => new Error(`${name} ${why}: ${readFileSync(log, 'utf8').slice(-tailLength)}`)
  const end = async signal => {
    if (hasEnded()) return
    signalGroup(child.pid, signal)
    const isInTime = await Promise.race([ended, sleep(endMs, false, { ref: false })])
    if (!isInTime) signalGroup(child.pid, 'SIGKILL')
    await ended
  }
  const started = {
    cpuMs: () => cpuMsOfTree(child.pid),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
  for (const until = Date.now() + patienceMs; !(await isReady()); await sleep(lookMs)) {
    if (hasEnded()) throw failed('ended')
    if (Date.now() < until) continue
    await started.kill()
    throw failed('is not ready')
  }
  return started
}

// A command that ends by itself; returns its output.
export async function runChild(program, args, { folder, name, env }) {
  mkdirSync(folder, { recursive: true })
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...basics(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: patienceMs,
  })
  let said = ''
  let complained = ''
  child.stdout.on('data', chunk => (said += chunk))
  child.stderr.on('data', chunk => (complained += chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${(said + complained).slice(-tailLength)}`)
  return said
}

const basics = () => ({ PATH: process.env.PATH, LANG: 'C.UTF-8' })

/** @type {(port: number) => Promise<boolean>} */
function isOpen(port) {
  return new Promise(resolve => {
    const socket = connect({ port, host: '127.0.0.1' })
    const say = answer => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => say(true)).once('error', () => say(false))
  })
}

// Of a process and all that descend from it, the ended ones among them.
function cpuMsOfTree(root) {
  const stats = new Map(
    readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .map(name => /** @type {[number, any]} */ ([Number(name), readStat(name)]))
      .filter(([, stat]) => stat),
  )
  const belongs = pid => pid === root || (stats.has(pid) && belongs(stats.get(pid).parent))
  return [...stats].reduce((sum, [pid, stat]) => (belongs(pid) ? sum + stat.ms : sum), 0)
}

function readStat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return { parent: Number(fields[1]), ms: ticks * msPerTick }
  } catch {
    return undefined // it has ended
  }
}
