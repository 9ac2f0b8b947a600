import type { SanitizedReply } from '../../core/provider/reply.ts'
import { Unavailable } from '../../core/interface/refusal.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { Change } from '../../core/payment/change.ts'
import type { GuardedAccount } from '../../runtime/providers/guard.ts'
import { wakeDispatchers } from '../notifications/wakeDispatchers.ts'
import { raiseTask } from './raiseTask.ts'
import { decisionsOn } from './decisions/decisions.ts'
import type { PaymentDeps } from './deps.ts'

// A provider replied to our question. Safe to call twice with the same news.
export async function resolveAttempt(
  deps: PaymentDeps,
  asked: Attempt, // as it was when we asked
  reply: SanitizedReply,
  askedAt: Date,
  account: GuardedAccount | undefined, // the account that was asked
): Promise<Change> {
  const now = deps.clock()
  const change = await save(deps, account, asked, reply, askedAt, now).catch(async (error: unknown) => {
    if (!(error instanceof Unavailable)) await raiseTask(deps, asked, reply, error, now)
    throw error
  })
  deps.watch(change)
  if (change.events.some(({ kind }) => kind === 'status_changed')) wakeDispatchers(deps)
  return change
}

function save(
  { db }: PaymentDeps,
  line: GuardedAccount | undefined,
  asked: Attempt,
  reply: SanitizedReply,
  askedAt: Date,
  now: Date,
) {
  const terms = line?.terms(asked.payment_method) ?? noTerms
  const worth = { ...terms, askedAt, sends: asked.sends, submits: asked.submits }
  const { merchant_id, tx_reference } = asked
  const account = line?.account ?? asked.provider_account
  return decisionsOn(db).resolve({ merchant_id, tx_reference, asked, reply, worth, account, now })
}

// Of a provider that is not set up any more nothing is known.
const noTerms = {
  absentForMs: Infinity,
  lifetimeMs: undefined,
  failureMayReverseForMs: undefined,
  timing: {},
}
