import type { Keepers } from '../../runtime/channels/keeper.ts'
import type { Channels } from '../../runtime/channels.ts'
import { timerOf, withinDeadline } from '../../runtime/deadline.ts'

const gapMs = 30_000

type Deps = { channels: Pick<Channels, 'find'>; breakers: Keepers['breakers'] }

// Goes to see whether an account that was left alone is well again, where its channel can ask without charging anybody:
// so it comes back without a customer who has to try. Gives back when all that were asked have answered.
export function createProber({ channels, breakers }: Deps) {
  const askedAt = new Map<string, number>() // of those that are in trouble

  async function probe(account: string) {
    const line = channels.find(account)
    const test = line?.test
    if (!line || !test) return
    const learn = breakers.begin(account, 'ask', 'test')
    const asked = withinDeadline(signal => test(signal), timerOf(line.askWithinMs), 'no answer in time')
    learn(
      await asked.then(
        ({ isGood }) => (isGood ? 'answered' : 'unanswered'),
        () => 'unanswered',
      ),
    )
  }

  return async () => {
    const now = performance.now()
    const accounts = breakers.toProbe()
    for (const account of askedAt.keys()) if (!accounts.includes(account)) askedAt.delete(account)
    const due = accounts.filter(account => now - (askedAt.get(account) ?? -Infinity) >= gapMs)
    for (const account of due) askedAt.set(account, now)
    await Promise.all(due.map(probe))
  }
}
