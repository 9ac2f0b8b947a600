import type { Heard } from '../../core/channel/reply.ts'
import { Unavailable } from '../../core/interface/refusal.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { Change } from '../../core/payment/change.ts'
import type { GuardedChannel } from '../../runtime/channels/guard.ts'
import { wakeSenders } from '../notifications/wakeSenders.ts'
import { callPerson } from './callPerson.ts'
import { decisionsOn } from './decisions/decisions.ts'
import type { PaymentDeps } from './deps.ts'

// A channel replied to our question. Safe to call twice with the same news.
export async function settle(
  deps: PaymentDeps,
  asked: Attempt, // as it was when we asked
  reply: Heard,
  askedAt: Date,
  line: GuardedChannel | undefined, // the account that was asked
): Promise<Change> {
  const now = deps.clock()
  const change = await save(deps, line, asked, reply, askedAt, now).catch(async (error: unknown) => {
    if (!(error instanceof Unavailable)) await callPerson(deps, asked, reply, error, now)
    throw error
  })
  deps.watch(change)
  if (change.events.some(({ kind }) => kind === 'status_changed')) wakeSenders(deps)
  return change
}

function save(
  { db }: PaymentDeps,
  line: GuardedChannel | undefined,
  asked: Attempt,
  reply: Heard,
  askedAt: Date,
  now: Date,
) {
  const terms = line?.terms(asked.payment_method) ?? noTerms
  const worth = { ...terms, askedAt, sends: asked.sends, submits: asked.submits }
  const { merchant_id, tx_reference } = asked
  const account = line?.account ?? asked.channel
  return decisionsOn(db).settle({ merchant_id, tx_reference, asked, reply, worth, account, now })
}

// Of a channel that is not set up any more nothing is known.
const noTerms = { absentForMs: Infinity, livesForMs: undefined, noMayTurnForMs: undefined, pace: {} }
