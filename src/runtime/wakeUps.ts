import { setTimeout as sleep } from 'node:timers/promises'

// Workers find their work by polling. A wake-up makes them poll immediately, because a commit has just added work for them.
// A lost wake-up delays the work only until the next poll.

// The workers that poll providers, those that send notifications and messages, and the one that opens changed accounts.
const wakeables = ['pollers', 'senders', 'accounts'] as const
export type Wakeable = (typeof wakeables)[number]
export const isWakeable = (name: string): name is Wakeable => (wakeables as readonly string[]).includes(name)

// Which commits wake a worker.
type WakeUpSource = 'thisNode' | 'allNodes'

export type WakeUps = {
  wake(worker: Wakeable): void // this process has committed work for it
  receive(worker: Wakeable): void // another node has committed work for it
  on(worker: Wakeable, listener: () => void, source?: WakeUpSource): void
  forward(send: (worker: Wakeable) => void): void // wake-ups of this process, to other nodes
}

export function createWakeUps(): WakeUps {
  const listeners: { worker: Wakeable; source: WakeUpSource; listener(): void }[] = []
  const forwards: ((worker: Wakeable) => void)[] = []
  return {
    wake(worker) {
      for (const one of listeners) if (one.worker === worker) one.listener()
      for (const send of forwards) send(worker)
    },
    receive(worker) {
      for (const one of listeners) if (one.worker === worker && one.source === 'allNodes') one.listener()
    },
    on: (worker, listener, source = 'allNodes') => void listeners.push({ worker, source, listener }),
    forward: send => void forwards.push(send),
  }
}

const coalesceMs = 10

// Collects names for 10 ms and passes each of them on once, one call at a time. Callers do not wait, and a call that fails
// is lost.
export function coalesce<Name extends string>(send: (names: readonly Name[]) => Promise<void> | void) {
  const pending = new Set<Name>()
  let isSending = false

  async function sendAll() {
    isSending = true
    while (pending.size > 0) {
      await sleep(coalesceMs, undefined, { ref: false })
      const names = [...pending]
      pending.clear()
      try {
        await send(names)
      } catch {}
    }
    isSending = false
  }

  return (name: Name) => {
    pending.add(name)
    if (!isSending) void sendAll()
  }
}
