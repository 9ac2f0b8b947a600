import { type Refusal, TooBusy, tooSlow } from '../core/interface/refusal.ts'
import { network } from './rateLimits.ts'

// An honest body is mostly under 4 KiB and arrives in one packet, so it occupies memory for less than a millisecond.
// Only half-sent bodies stay. So when a quota is used up, the body that arrives now is read on, and the largest of those
// that wait is dropped.
//
// A body counts with the memory that it occupies now, not with the length that it declares: 10,000 connections that
// declare 64 KiB and send one byte occupy 10 MiB at most.
const maxBytes = 64 * 1024 * 1024 // all unfinished bodies of this process

// A quarter: four networks together can fill the memory, one cannot. Clients that share one address (NAT, a proxy that
// hides them) share this quota. With at most 10,000 connections, the largest body of a full quota has more than
// 1.6 KiB, so the form of a slow phone is never the one that is dropped.
const maxBytesOfNetwork = maxBytes / 4

// Half of the memory is left to bodies under 8 KiB, which nearly all honest ones are.
const maxBytesOfLarge = maxBytes / 2
export const largeBodyBytes = 8 * 1024

// A body that has not brought 512 bytes for 8 seconds is dropped, 2 seconds later at most. That is 64 bytes a second: a
// phone on 2G sends ten times as fast, and a packet that is lost three times arrives within 7 seconds.
const maxWaitMs = 8000
const minProgressBytes = 512
const sweepMs = 2000

// A body that is being read. `drop` ends it with a refusal.
export type UnfinishedBody = {
  drop(refusal: Refusal): void
  isPaused(): boolean // by us: the sender cannot send then
}

type Held = UnfinishedBody & {
  usage: NetworkUsage
  bytes: number // of memory
  isLarge: boolean
  received: number
  progressAt: number // when it last had brought so much, and what had been received by then
  receivedThen: number
}

type NetworkUsage = { name: string; bytes: number; largeBytes: number; bodies: Set<Held> }

export type BodyQuota = {
  open(address: string, isLarge: boolean, body: UnfinishedBody): HeldBody
}

export type HeldBody = {
  grow(received: number, bytes: number): void
  close(): void
}

export function createBodyQuota(monotonicMs: () => number): BodyQuota {
  const networks = new Map<string, NetworkUsage>()
  let totalBytes = 0
  let totalLargeBytes = 0
  let sweeper: NodeJS.Timeout | undefined
  let lastSweep = 0

  function open(address: string, isLarge: boolean, { drop, isPaused }: UnfinishedBody): HeldBody {
    const usage = usageOf(network(address))
    const now = monotonicMs()
    const held: Held = {
      drop,
      isPaused,
      usage,
      bytes: 0,
      isLarge,
      received: 0,
      progressAt: now,
      receivedThen: 0,
    }
    usage.bodies.add(held)
    if (!sweeper) startSweeping(now)
    return { grow: (received, bytes) => grow(held, received, bytes), close: () => close(held) }
  }

  function usageOf(name: string): NetworkUsage {
    const known = networks.get(name)
    if (known) return known
    const usage = { name, bytes: 0, largeBytes: 0, bodies: new Set<Held>() }
    networks.set(name, usage)
    return usage
  }

  function grow(held: Held, received: number, bytes: number) {
    held.received = received
    if (received - held.receivedThen >= minProgressBytes) restartPace(held, monotonicMs())
    count(held, -1)
    held.bytes = bytes
    held.isLarge ||= received >= largeBodyBytes
    count(held, 1)
    if (held.usage.bytes > maxBytesOfNetwork) dropLargest(held.usage.bodies, held, 429)
    if (totalLargeBytes > maxBytesOfLarge) dropLargest(largeOnes(heaviest('largeBytes')), held, 503)
    if (totalBytes > maxBytes) dropLargest(heaviest('bytes').bodies, held, 503)
  }

  function count({ usage, bytes, isLarge }: Held, sign: 1 | -1) {
    usage.bytes += sign * bytes
    totalBytes += sign * bytes
    if (!isLarge) return
    usage.largeBytes += sign * bytes
    totalLargeBytes += sign * bytes
  }

  function close(held: Held) {
    const { usage } = held
    if (!usage.bodies.delete(held)) return
    count(held, -1)
    if (usage.bodies.size === 0) networks.delete(usage.name)
  }

  // The body that grows now is spared: it is not the one that waits.
  function dropLargest(bodies: Iterable<Held>, growing: Held, http: 429 | 503) {
    let largest: Held | undefined
    for (const held of bodies) if (held !== growing && held.bytes > (largest?.bytes ?? 0)) largest = held
    const dropped = largest ?? growing
    close(dropped)
    dropped.drop(new TooBusy(http))
  }

  function heaviest(what: 'bytes' | 'largeBytes'): NetworkUsage {
    let found: NetworkUsage | undefined
    for (const usage of networks.values()) if (!found || usage[what] > found[what]) found = usage
    return found as NetworkUsage
  }

  const largeOnes = ({ bodies }: NetworkUsage) => [...bodies].filter(({ isLarge }) => isLarge)

  function startSweeping(now: number) {
    lastSweep = now
    sweeper = setInterval(sweep, sweepMs)
    sweeper.unref()
  }

  // If this process itself stood still, nobody was slow.
  function sweep() {
    if (networks.size === 0) {
      clearInterval(sweeper)
      sweeper = undefined
      return
    }
    const now = monotonicMs()
    const stoodStill = now - lastSweep > 2 * sweepMs
    lastSweep = now
    for (const { bodies } of networks.values())
      for (const held of bodies) {
        if (stoodStill || held.isPaused()) restartPace(held, now)
        if (now - held.progressAt < maxWaitMs) continue
        close(held)
        held.drop(tooSlow())
      }
  }

  return { open }
}

function restartPace(held: Held, now: number) {
  held.progressAt = now
  held.receivedThen = held.received
}
