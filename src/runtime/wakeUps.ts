import { setTimeout as sleep } from 'node:timers/promises'

// Workers find their work by polling. A wake-up makes them poll at once, because a commit has just added work for them. A
// wake-up that is lost costs only the time until the next poll.

// The workers that poll providers, and those that send notifications and messages.
const wakeables = ['pollers', 'senders'] as const
export type Wakeable = (typeof wakeables)[number]
export const isWakeable = (name: string): name is Wakeable => (wakeables as readonly string[]).includes(name)

// Whose commits wake a worker: those of this process alone, or those of other nodes, too.
export type Whose = 'ours' | 'everybodys'

export type WakeUps = {
  wake(who: Wakeable): void // this process has committed work
  receive(who: Wakeable): void // another node has
  on(who: Wakeable, listener: () => void, whose?: Whose): void
  onOurs(listener: (who: Wakeable) => void): void // passes them on to other nodes
}

export function createWakeUps(): WakeUps {
  const listeners: { who: Wakeable; whose: Whose; listener(): void }[] = []
  const passOn: ((who: Wakeable) => void)[] = []
  return {
    wake(who) {
      for (const one of listeners) if (one.who === who) one.listener()
      for (const pass of passOn) pass(who)
    },
    receive(who) {
      for (const one of listeners) if (one.who === who && one.whose === 'everybodys') one.listener()
    },
    on: (who, listener, whose = 'everybodys') => void listeners.push({ who, whose, listener }),
    onOurs: listener => void passOn.push(listener),
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
