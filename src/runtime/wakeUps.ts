import { setTimeout as sleep } from 'node:timers/promises'

// Workers find their work by polling. A wake-up makes them poll at once, because a commit has just added work for them. A
// wake-up that is lost costs only the time until the next poll.

// The workers that poll providers, and those that send notifications and messages.
const wakeables = ['pollers', 'senders'] as const
export type Wakeable = (typeof wakeables)[number]
export const isWakeable = (name: string): name is Wakeable => (wakeables as readonly string[]).includes(name)

// Which commits wake a worker.
export type WakeUpSource = 'thisNode' | 'allNodes'

export type WakeUps = {
  wake(who: Wakeable): void // this process has committed work
  receive(who: Wakeable): void // another node has
  on(who: Wakeable, listener: () => void, source?: WakeUpSource): void
  forward(send: (who: Wakeable) => void): void // wake-ups of this process, to other nodes
}

export function createWakeUps(): WakeUps {
  const listeners: { who: Wakeable; source: WakeUpSource; listener(): void }[] = []
  const forwards: ((who: Wakeable) => void)[] = []
  return {
    wake(who) {
      for (const one of listeners) if (one.who === who) one.listener()
      for (const send of forwards) send(who)
    },
    receive(who) {
      for (const one of listeners) if (one.who === who && one.source === 'allNodes') one.listener()
    },
    on: (who, listener, source = 'allNodes') => void listeners.push({ who, source, listener }),
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
