import { type Refusal, TooBusy, tooSlow } from '../core/interface/refusal.ts'
import { network } from './rateLimits.ts'

// Limits the memory of request bodies that are not complete yet. Most bodies are under 4 KiB and arrive in one packet, so
// they occupy memory for less than a millisecond; only half-sent bodies stay. So when a quota is used up, the body that
// grows now is read on, and the largest of the waiting ones is dropped.
//
// A body counts with the memory that it occupies, not with the length that it declares: 10,000 connections that declare
// 64 KiB and send one byte occupy 10 MiB at most.
const maxBytes = 64 * 1024 * 1024 // all unfinished bodies of this process

// A quarter: four networks together can fill the memory, one cannot. Clients that share one address (NAT, a proxy that
// hides them) share this quota. With at most 10,000 connections, the largest body of a full quota has more than
// 1.6 KiB, so the form of a slow phone is never the one that is dropped.
const maxBytesOfNetwork = maxBytes / 4

// Half of the memory is reserved for bodies under 8 KiB, which nearly all honest ones are.
const maxBytesOfLarge = maxBytes / 2
export const largeBodyBytes = 8 * 1024

// A body that has received less than 512 bytes in 8 seconds is dropped, 2 seconds later at most. That is 64 bytes a
// second: a phone on 2G sends ten times as fast, and a packet that is lost three times arrives within 7 seconds.
const maxWaitMs = 8000
const minProgressBytes = 512
const sweepMs = 2000

// A body that is being read. `drop` ends the read with a refusal.
type UnfinishedBody = {
  drop(refusal: Refusal): void
  isPaused(): boolean // this server has paused the read, so the client cannot send
}

export type BodyQuota = {
  open(address: string, isLarge: boolean, body: UnfinishedBody): BodyMeter
}

export type BodyMeter = {
  grow(received: number, bytes: number): void
  close(): void
}

type TrackedBody = UnfinishedBody & {
  usage: NetworkUsage
  bytes: number // of memory that it occupies
  isLarge: boolean
  received: number
  progressAt: number // the time of the last progress by 512 bytes
  receivedThen: number // bytes received at that time
}

type NetworkUsage = { name: string; bytes: number; largeBytes: number; bodies: Set<TrackedBody> }

export function createBodyQuota(monotonicMs: () => number): BodyQuota {
  const memory = createMemoryUsage()
  const sweeper = createSweeper(memory, monotonicMs)

  function open(address: string, isLarge: boolean, { drop, isPaused }: UnfinishedBody): BodyMeter {
    const usage = memory.networkOf(network(address))
    const now = monotonicMs()
    const counters = { bytes: 0, isLarge, received: 0, progressAt: now, receivedThen: 0 }
    const body: TrackedBody = { drop, isPaused, usage, ...counters }
    usage.bodies.add(body)
    sweeper.start(now)
    return { grow: (received, bytes) => grow(body, received, bytes), close: () => memory.remove(body) }
  }

  function grow(body: TrackedBody, received: number, bytes: number) {
    body.received = received
    if (received - body.receivedThen >= minProgressBytes) restartProgress(body, monotonicMs())
    memory.resize(body, bytes, body.isLarge || received >= largeBodyBytes)
    if (body.usage.bytes > maxBytesOfNetwork) dropLargest(body.usage.bodies, body, 429)
    if (memory.totalLargeBytes() > maxBytesOfLarge)
      dropLargest(largeOnes(memory.heaviest('largeBytes')), body, 503)
    if (memory.totalBytes() > maxBytes) dropLargest(memory.heaviest('bytes').bodies, body, 503)
  }

  // The body that grows now is dropped last, because it is not waiting.
  function dropLargest(bodies: Iterable<TrackedBody>, growing: TrackedBody, http: 429 | 503) {
    let largest: TrackedBody | undefined
    for (const body of bodies) if (body !== growing && body.bytes > (largest?.bytes ?? 0)) largest = body
    const dropped = largest ?? growing
    memory.remove(dropped)
    dropped.drop(new TooBusy(http))
  }

  return { open }
}

const largeOnes = ({ bodies }: NetworkUsage) => [...bodies].filter(({ isLarge }) => isLarge)

type MemoryUsage = ReturnType<typeof createMemoryUsage>

// The bytes of all bodies, by network and in total.
function createMemoryUsage() {
  const networks = new Map<string, NetworkUsage>()
  let totalBytes = 0
  let totalLargeBytes = 0

  function count({ usage, bytes, isLarge }: TrackedBody, sign: 1 | -1) {
    usage.bytes += sign * bytes
    totalBytes += sign * bytes
    if (!isLarge) return
    usage.largeBytes += sign * bytes
    totalLargeBytes += sign * bytes
  }

  return {
    networks,
    totalBytes: () => totalBytes,
    totalLargeBytes: () => totalLargeBytes,
    networkOf(name: string): NetworkUsage {
      const usage = networks.get(name) ?? { name, bytes: 0, largeBytes: 0, bodies: new Set<TrackedBody>() }
      networks.set(name, usage)
      return usage
    },
    resize(body: TrackedBody, bytes: number, isLarge: boolean) {
      count(body, -1)
      body.bytes = bytes
      body.isLarge = isLarge
      count(body, 1)
    },
    remove(body: TrackedBody) {
      const { usage } = body
      if (!usage.bodies.delete(body)) return
      count(body, -1)
      if (usage.bodies.size === 0) networks.delete(usage.name)
    },
    heaviest(what: 'bytes' | 'largeBytes'): NetworkUsage {
      let found: NetworkUsage | undefined
      for (const usage of networks.values()) if (!found || usage[what] > found[what]) found = usage
      return found as NetworkUsage
    },
  }
}

// Drops slow bodies. The timer runs while there are any bodies.
function createSweeper(memory: MemoryUsage, monotonicMs: () => number) {
  let timer: NodeJS.Timeout | undefined
  let lastSweep = 0

  function sweep() {
    if (memory.networks.size === 0) {
      clearInterval(timer)
      timer = undefined
      return
    }
    const now = monotonicMs()
    const wasPaused = now - lastSweep > 2 * sweepMs // this process was paused, so no client was slow
    lastSweep = now
    for (const { bodies } of memory.networks.values())
      for (const body of bodies) {
        if (wasPaused || body.isPaused()) restartProgress(body, now)
        if (now - body.progressAt < maxWaitMs) continue
        memory.remove(body)
        body.drop(tooSlow())
      }
  }

  return {
    start(now: number) {
      if (timer) return
      lastSweep = now
      timer = setInterval(sweep, sweepMs)
      timer.unref()
    },
  }
}

function restartProgress(body: TrackedBody, now: number) {
  body.progressAt = now
  body.receivedThen = body.received
}
