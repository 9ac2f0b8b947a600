import { sanitizeWebhook, type Webhook, type WebhookUpdate } from '../../core/provider/webhook.ts'
import { merchantOfToken } from '../../runtime/ids.ts'
import { findAttemptByKey, saveProviderReference } from '../../store/payments/idempotencyKeys.ts'
import { checkReversals } from '../../store/payments/moneyBack.ts'
import type { PaymentDeps } from '../payments/deps.ts'
import { isAttemptId, promptPoll } from './callbacks.ts'

export type HandledWebhook = { outcome: 'accepted' | 'forged' | 'no_such_account'; account?: string }

// A provider has sent something to the address of an account. The provider says whether it is the provider's, and which
// orders it is about; then we ask. What is not the provider's costs no more than that.
export async function handleWebhook(
  deps: PaymentDeps,
  webhook_id: string,
  webhook: Webhook,
): Promise<HandledWebhook> {
  const found = deps.providerAccounts.findByWebhookId(webhook_id)
  if (!found?.account.handleWebhook) return { outcome: 'no_such_account' }
  const { name: account } = found
  const updates = read(() => found.account.handleWebhook?.(webhook))
  if (!updates) return { outcome: 'forged', account }
  for (const one of updates) await hearOne(deps, account, one)
  return { outcome: 'accepted', account }
}

// What a provider cannot even read is not the provider's.
function read(hear: () => unknown): WebhookUpdate[] | undefined {
  try {
    return sanitizeWebhook(hear())
  } catch {
    return undefined
  }
}

// A plain call back at an order that is called as its attempt is needs no look: it makes us ask, and no more. All else counts
// only for an attempt of this very account.
async function hearOne(
  deps: PaymentDeps,
  account: string,
  { idempotency_key: key, provider_ref, check_reversals }: WebhookUpdate,
) {
  if (isAttemptId(key) && !provider_ref && !check_reversals) return promptPoll(deps, key)
  const merchant_id = isAttemptId(key) ? merchantOfToken(key) : undefined
  const attempt = await findAttemptByKey(deps.db, account, key, merchant_id)
  if (!attempt) return false
  // Another business under this name may make us ask, which a task follows; it does not tell a reference.
  if (provider_ref && deps.providerAccounts.findFor(attempt))
    await saveProviderReference(deps.db, attempt, provider_ref)
  if (check_reversals) {
    await checkReversals(deps.db, attempt, deps.clock())
    deps.wake('pollers')
    return true
  }
  return promptPoll(deps, attempt.attempt_id)
}
