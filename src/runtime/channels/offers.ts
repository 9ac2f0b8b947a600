import { type Candidate, candidatesFor, choose, fits } from '../../core/channel/choose.ts'
import type { Standing } from '../../core/channel/standing.ts'
import type { TestEnding, Way } from '../../core/channel/way.ts'
import type { Settings } from '../../core/merchant/settings.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Account } from './accounts.ts'
import type { Health } from './keeper.ts'

// A way to pay with the name of the account that serves it, how that does, and the endings that a tester has there where
// it plays.
export type Offer = Way & { channel: string; standing: Standing; testEndings?: readonly TestEnding[] }

// What decides which ways a payment has. Without settings the merchant has chosen nothing.
export type Offered = Pick<Payment, 'merchant_id' | 'mode' | 'currency' | 'total'> & {
  settings?: Pick<Settings, 'channels' | 'ways'>
}

const nothingChosen = { channels: [], ways: [] }

const mostKept = 1000 // merchants with choices of their own, and answers; then the oldest goes

// Every page asks, so what follows from the accounts and the merchant's choices is reckoned once. The same answer is the
// very same array each time: pages keep what they drew of it. All of it goes when an account changes.
export function createOffers(accounts: readonly Account[], preferred: readonly string[], health: Health) {
  const byName = new Map(accounts.map(one => [one.account, one]))
  const owners = new Set(accounts.map(one => one.merchant_id))
  const plans = new Map<string, readonly Candidate[]>()
  const answers = new Map<string, readonly Offer[]>()

  function planOf({ merchant_id, mode, currency, settings: { channels, ways } = nothingChosen }: Offered) {
    const whose = owners.has(merchant_id) ? merchant_id : ''
    return kept(plans, `${whose} ${mode} ${currency} ${channels.join()} ${ways.join()}`, () =>
      candidatesFor(accounts, { merchant_id, mode, currency, channels, ways, preferred }),
    )
  }

  return function offers(payment: Offered): readonly Offer[] {
    let key: string = payment.currency
    const able: (Candidate & { standing: Standing })[] = []
    for (const { account, way } of planOf(payment))
      if (fits(payment.total, way.limits?.[payment.currency])) {
        const standing = health.of(account, way.payment_method)
        able.push({ account, way, standing })
        key += `,${account} ${way.payment_method} ${standing}`
      }
    return kept(answers, key, () =>
      choose(able).map(({ account, way, standing }) => ({
        ...way,
        channel: account,
        standing,
        ...endingsOf(way, byName.get(account)),
      })),
    )
  }
}

function kept<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const before = known.get(key)
  if (before !== undefined) return before
  const made = make()
  known.set(key, made)
  if (known.size > mostKept) known.delete(known.keys().next().value as string)
  return made
}

// Nobody plays with real money, whatever a channel says.
function endingsOf({ payment_method }: Way, account: Account | undefined) {
  const testEndings = account?.opened?.testEndings
  if (account?.mode !== 'test' || !testEndings) return {}
  return { testEndings: testEndings.filter(ending => ending.payment_method === payment_method) }
}
