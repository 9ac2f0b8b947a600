import type { PickRandom } from '../rounds.ts'
import type { Installation, TortureShop } from '../installation.ts'
import type { Load } from '../load.ts'
import type { TestedNode } from '../nodes.ts'

// One kind of fault. A round injects it into a running installation under load, and heals it.
export type Fault = {
  name: string
  needs?(installation: Installation): string | undefined // what is missing here; undefined: nothing
  inject(turn: Turn): Promise<void> // ends when the fault is healed
}

// What a fault works with during one round.
export type Turn = {
  installation: Installation
  isLong: boolean // the long form
  chance: PickRandom
  say(text: string): void
  failed(text: string): void // what must not happen
  load: Load
  // Measures how long the nodes take from now until each answers a request of one of the shops with 200. By default all
  // of them.
  servesAgain(what: Recovery, nodes?: readonly TestedNode[], shops?: readonly TortureShop[]): Promise<void>
}

// With the time within which the nodes should serve again.
export const recoveries = {
  'serves after a kill': 2000,
  'serves after the database accepts writes': 5000,
  'serves merchants of other workers': 5000,
  'serves after the fault': 5000,
} as const
export type Recovery = keyof typeof recoveries

// The time within which a request is answered while the database is away.
export const outageAnswerMs = 5000
