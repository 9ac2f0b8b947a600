// Those who ask providers, and those who tell merchants and customers.
const wakeables = ['pollers', 'senders'] as const
export type Wakeable = (typeof wakeables)[number]
export const isWakeable = (word: string): word is Wakeable => (wakeables as readonly string[]).includes(word)

// Whose commits one wants to be woken by: those of this process alone, or those of the other nodes, too.
export type Whose = 'ours' | 'everybodys'

export type WakeUps = {
  wake(who: Wakeable): void // there is work of ours
  receive(who: Wakeable): void // there is work of another node
  on(who: Wakeable, listener: () => void, whose?: Whose): void
  onOurs(listener: (who: Wakeable) => void): void // whoever passes it on
}

// Work is found by looking, again and again. Who has committed some says so here, and those who look do it at once;
// when nobody listens yet, or a word between nodes is lost, the next look finds it.
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
