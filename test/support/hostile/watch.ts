import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const everyMs = 50
const msPerTick = 10 // USER_HZ is 100
const pageBytes = 4096 // on every Linux that the proof runs on

// Process statistics of Linux; undefined on other systems.
export function rssOf(pid: number): number | undefined {
  try {
    const [, resident] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')
    return Number(resident) * pageBytes
  } catch {
    return undefined
  }
}

// CPU time in user and kernel mode.
export function cpuMsOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * msPerTick
  } catch {
    return 0
  }
}

export function socketsOf(pid: number): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`).filter(fd => isSocket(pid, fd)).length
  } catch {
    return undefined
  }
}

function isSocket(pid: number, fd: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:')
  } catch {
    return false // closed in the meantime
  }
}

// The limit of open files of this process and its children. Node raises the soft limit to the hard one.
export function maxOpenFiles(): number {
  try {
    const [, soft, hard] =
      /^Max open files +(\S+) +(\S+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? []
    const limits = [soft, hard].filter(limit => limit !== 'unlimited').map(Number)
    return Math.max(...limits, 0) || Number.POSITIVE_INFINITY
  } catch {
    return 1024
  }
}

// Measures the peak resident memory and the CPU time until the returned function is called.
export function watchProcess(pid: number) {
  const [began, cpuBefore] = [performance.now(), cpuMsOf(pid)]
  let rss = rssOf(pid) ?? 0
  const timer = setInterval(() => void (rss = Math.max(rss, rssOf(pid) ?? 0)), everyMs)
  return () => {
    clearInterval(timer)
    return { rss, cpuMs: cpuMsOf(pid) - cpuBefore, elapsedMs: performance.now() - began }
  }
}

export type Usage = ReturnType<ReturnType<typeof watchProcess>>
