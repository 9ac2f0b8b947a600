import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const everyMs = 50
const pageBytes = 4096 // on every Linux that the proof runs on

// What Linux knows of a process. Elsewhere nothing is known.
export function rssOf(pid: number): number | undefined {
  try {
    const [, resident] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')
    return Number(resident) * pageBytes
  } catch {
    return undefined
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
    return false // it was closed meanwhile
  }
}

// The most files that this process and those that it starts may open. Node raises the soft limit to the hard one.
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

// The highest resident memory until it is read.
export function watchRss(pid: number) {
  let highest = rssOf(pid) ?? 0
  const timer = setInterval(() => void (highest = Math.max(highest, rssOf(pid) ?? 0)), everyMs)
  return () => {
    clearInterval(timer)
    return highest
  }
}
