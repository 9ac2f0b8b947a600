import type { HealthMonitors } from '../../runtime/providers/healthMonitor.ts'
import type { ProviderAccounts } from '../../runtime/providerAccounts.ts'
import { timerOf, withinDeadline } from '../../runtime/deadline.ts'

const gapMs = 30_000

type Deps = { providerAccounts: Pick<ProviderAccounts, 'find'>; breakers: HealthMonitors['breakers'] }

// Goes to see whether an account that was left alone is well again, where its provider can ask without charging anybody:
// so it comes back without a customer who has to try. Gives back when all that were asked have answered.
export function createProber({ providerAccounts, breakers }: Deps) {
  const askedAt = new Map<string, number>() // of those that are in trouble

  async function probe(account: string) {
    const line = providerAccounts.find(account)
    const test = line?.checkCredentials
    if (!line || !test) return
    const learn = breakers.begin(account, 'ask', 'test')
    const asked = withinDeadline(signal => test(signal), timerOf(line.pollTimeoutMs), 'no answer in time')
    learn(
      await asked.then(
        ({ isValid: isGood }) => (isGood ? 'answered' : 'unanswered'),
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
