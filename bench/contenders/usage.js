// What processes used, as Linux counts it.
import { readdirSync, readFileSync } from 'node:fs'

const msPerTick = 10 // USER_HZ is 100 on every Linux that Node runs on

// After the name, which may itself hold spaces and brackets: state, parent, ... user, system, and the same
// of the children that have ended and were waited for.
function readStat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [user, system, childUser, childSystem] = fields.slice(11, 15).map(Number)
    return {
      parent: Number(fields[1]),
      ownMs: (user + system) * msPerTick,
      endedChildrenMs: (childUser + childSystem) * msPerTick,
    }
  } catch {
    return undefined // it has ended
  }
}

export const cpuMs = pid => readStat(pid)?.ownMs ?? 0

// PostgreSQL is one process per connection. Those that end move into the account of their parent, so that
// nothing is lost when connections come and go; when one moves while we look, we look again.
export function cpuMsOfFamily(parentPid) {
  for (;;) {
    const parent = readStat(parentPid)
    if (!parent) throw new Error('PostgreSQL is gone.')
    const children = readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .map(readStat)
      .filter(stat => stat?.parent === parentPid)
    const childrenMs = children.reduce((sum, child) => sum + (child?.ownMs ?? 0), 0)
    if (readStat(parentPid)?.endedChildrenMs === parent.endedChildrenMs)
      return parent.ownMs + parent.endedChildrenMs + childrenMs
  }
}

// Of the whole machine: what all its processes and the kernel used, and what there was to use.
export function machineMs() {
  const [, counted = ''] = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'latin1')) ?? []
  const ticks = counted.split(' ').slice(0, 8).map(Number)
  const all = ticks.reduce((sum, n) => sum + n, 0)
  const [, , , idle, waiting] = ticks
  return { used: (all - idle - waiting) * msPerTick, all: all * msPerTick }
}

// The memory that a process has, and the most that it ever had, in MB.
export const memoryMb = pid => readMemoryMb(pid, 'VmRSS')
export const peakMemoryMb = pid => readMemoryMb(pid, 'VmHWM')

function readMemoryMb(pid, name) {
  const text = readFileSync(`/proc/${pid}/status`, 'latin1')
  return (Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) * 1024) / 1e6
}
