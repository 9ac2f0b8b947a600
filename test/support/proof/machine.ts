// Measures how much CPU time others use: other virtual machines (steal time) and processes that this one did not start.
// Linux only.
import { readdirSync, readFileSync } from 'node:fs'
import type { Sample } from './decision.ts'

type Stat = { parent: number; startedAt: number; ms: number }

const everyMs = 1000
const msPerTick = 10 // USER_HZ is 100 on every Linux that Node runs on

// Takes a sample every second until it is stopped.
export function watchMachine() {
  const samples: Sample[] = []
  const ours = countOurs()
  const look = () => {
    const sample = readSample(ours)
    if (sample) samples.push(sample)
  }
  look()
  const timer = setInterval(look, everyMs)
  return {
    samples,
    stop() {
      clearInterval(timer)
      look()
    },
  }
}

function readSample(ours: () => number): Sample | undefined {
  try {
    const [, counted = ''] = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'latin1')) ?? []
    const ticks = counted.split(' ').slice(0, 8).map(Number)
    const all = sum(ticks)
    const [, , , idle = 0, waiting = 0] = ticks
    return { at: Date.now(), allMs: all * msPerTick, othersMs: (all - idle - waiting) * msPerTick - ours() }
  } catch {
    return undefined // not Linux
  }
}

// CPU time of this process and its descendants. A known descendant still counts after its parent was killed, and so does
// its time after it ended without a parent that waited for it.
function countOurs() {
  let known = new Map<number, Stat>()
  let endedMs = 0
  return () => {
    const stats = readStats()
    const belongs = (pid: number): boolean => {
      const stat = stats.get(pid)
      if (!stat) return false
      return pid === process.pid || known.get(pid)?.startedAt === stat.startedAt || belongs(stat.parent)
    }
    const now = new Map([...stats].filter(([pid]) => belongs(pid)))
    for (const [pid, { parent, ms, startedAt }] of known)
      if (now.get(pid)?.startedAt !== startedAt && !now.has(parent)) endedMs += ms
    known = now
    return endedMs + sum([...now.values()].map(({ ms }) => ms))
  }
}

const readStats = () =>
  new Map(
    readdirSync('/proc')
      .map(Number)
      .filter(Number.isInteger)
      .flatMap(pid => {
        const stat = readStat(pid)
        return stat ? [[pid, stat] as const] : []
      }),
  )

// After the name, which may itself hold spaces and brackets: state, parent, ... user, system, and the same of the
// children that have ended and were waited for, ... and when it started.
function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [parent = 0, startedAt = 0] = [fields[1], fields[19]]
    return { parent, startedAt, ms: sum(fields.slice(11, 15)) * msPerTick }
  } catch {
    return undefined // it has ended
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, n) => all + n, 0)
