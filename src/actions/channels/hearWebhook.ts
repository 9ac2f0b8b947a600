import { orderNews } from '../../core/channel/orderNews.ts'
import type { OrderNews, Webhook } from '../../core/channel/webhook.ts'
import { merchantOfToken } from '../../runtime/ids.ts'
import { checkReversals } from '../../store/payments/moneyBack.ts'
import { findByKey, learnReference } from '../../store/payments/orderKeys.ts'
import type { PaymentDeps } from '../payments/deps.ts'
import { isAttemptId, prompted } from './knocks.ts'

export type HeardWebhook = { heard: 'heard' | 'forged' | 'no_such_account'; account?: string }

// A provider has sent something to the address of an account. The channel says whether it is the provider's, and which
// orders it is about; then we ask. What is not the provider's costs no more than that.
export async function hearWebhook(
  deps: PaymentDeps,
  webhook_id: string,
  webhook: Webhook,
): Promise<HeardWebhook> {
  const found = deps.channels.findByWebhook(webhook_id)
  if (!found?.channel.hear) return { heard: 'no_such_account' }
  const { name: account } = found
  const news = read(() => found.channel.hear?.(webhook))
  if (!news) return { heard: 'forged', account }
  for (const one of news) await hearOne(deps, account, one)
  return { heard: 'heard', account }
}

// What a channel cannot even read is not the provider's.
function read(hear: () => unknown): OrderNews[] | undefined {
  try {
    return orderNews(hear())
  } catch {
    return undefined
  }
}

// A plain knock at an order that is called as its attempt is needs no look: it makes us ask, and no more. All else counts
// only for an attempt of this very account.
async function hearOne(
  deps: PaymentDeps,
  account: string,
  { key, provider_ref, check_reversals }: OrderNews,
) {
  if (isAttemptId(key) && !provider_ref && !check_reversals) return prompted(deps, key)
  const merchant_id = isAttemptId(key) ? merchantOfToken(key) : undefined
  const attempt = await findByKey(deps.db, account, key, merchant_id)
  if (!attempt) return false
  // Another business under this name may make us ask, which a task follows; it does not tell a reference.
  if (provider_ref && deps.channels.findFor(attempt)) await learnReference(deps.db, attempt, provider_ref)
  if (check_reversals) {
    await checkReversals(deps.db, attempt, deps.clock())
    deps.wake('pollers')
    return true
  }
  return prompted(deps, attempt.attempt_id)
}
