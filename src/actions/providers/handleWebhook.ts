import { sanitizeWebhook, type Webhook, type WebhookUpdate } from '../../core/provider/webhook.ts'
import { merchantOfToken } from '../../runtime/ids.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import {
  findAttemptByKey,
  promptReversalCheck,
  saveProviderReference,
} from '../../store/payments/callbacks.ts'
import { promptRefund, promptRefundsOf } from '../../store/refunds/dueRefunds.ts'
import { findRefundByKey } from '../../store/refunds/refunds.ts'
import { isAttemptId, promptPoll } from './callbacks.ts'

type HandledWebhook = { outcome: 'accepted' | 'forged' | 'no_such_account'; account?: string }

// A webhook arrived at the address of an account. The provider module verifies it and reads which orders it is about; then
// these are polled. A forged webhook causes no database work.
export async function handleWebhook(
  deps: PaymentDeps,
  webhook_id: string,
  webhook: Webhook,
): Promise<HandledWebhook> {
  const found = deps.providerAccounts.findByWebhookId(webhook_id)
  if (!found?.account.handleWebhook) return { outcome: 'no_such_account' }
  const { name: account } = found
  const updates = verify(() => found.account.handleWebhook?.(webhook))
  if (!updates) return { outcome: 'forged', account }
  for (const update of updates) await handleUpdate(deps, account, update)
  return { outcome: 'accepted', account }
}

// A webhook that the provider module cannot read is forged.
function verify(read: () => unknown): WebhookUpdate[] | undefined {
  try {
    return sanitizeWebhook(read())
  } catch {
    return undefined
  }
}

// An update that names an attempt by its id, and nothing else, only causes a poll, so no lookup is needed. Everything else
// counts only for an attempt of this account.
async function handleUpdate(
  deps: PaymentDeps,
  account: string,
  { idempotency_key: key, provider_ref, check_reversals, refund_key }: WebhookUpdate,
) {
  if (refund_key) await promptRefundByKey(deps, account, refund_key)
  if (isAttemptId(key) && !provider_ref && !check_reversals) return promptPoll(deps, key)
  const merchant_id = isAttemptId(key) ? merchantOfToken(key) : undefined
  const attempt = await findAttemptByKey(deps.db, account, key, merchant_id)
  if (!attempt) return false
  // Another business under the same account name may cause a poll, which raises a task, but does not set a reference.
  if (provider_ref && deps.providerAccounts.findFor(attempt))
    await saveProviderReference(deps.db, attempt, provider_ref)
  if (check_reversals) {
    await promptReversalCheck(deps.db, attempt, deps.clock())
    await promptRefundsOf(deps.db, attempt, deps.clock())
    deps.wake('pollers')
    return true
  }
  return promptPoll(deps, attempt.attempt_id)
}

async function promptRefundByKey(deps: PaymentDeps, account: string, key: string) {
  const merchant_id = isAttemptId(key) ? merchantOfToken(key) : undefined
  const refund = await findRefundByKey(deps.db, account, key, merchant_id)
  if (refund && (await promptRefund(deps.db, refund, deps.clock()))) deps.wake('pollers')
}
