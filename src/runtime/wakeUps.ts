// Those who ask providers, and those who tell merchants and customers.
export type Wakeable = 'pollers' | 'senders'

export type WakeUps = {
  wake(who: Wakeable): void
  on(who: Wakeable, listener: () => void): void
}

// Work is found by looking, again and again. Who has committed some says so here, and those who look do it at once;
// when nobody listens yet, or in another process, the next look finds it.
export function createWakeUps(): WakeUps {
  const listeners: Record<Wakeable, (() => void)[]> = { pollers: [], senders: [] }
  return {
    wake(who) {
      for (const listener of listeners[who]) listener()
    },
    on: (who, listener) => void listeners[who].push(listener),
  }
}
