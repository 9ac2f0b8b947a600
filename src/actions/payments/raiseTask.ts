import { figureIn } from '../../core/money.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import { pollGap } from '../../core/payment/pollSchedule.ts'
import type { Task } from '../../core/payment/task.ts'
import type { SanitizedReply } from '../../core/provider/reply.ts'
import { cleanError } from '../../core/text.ts'
import { postponeAttempt } from '../../store/payments/attempts.ts'
import { addNotRecorded } from '../../store/payments/tasks.ts'
import type { PaymentDeps } from './deps.ts'

const maxWords = 300
const restMs = 20_000 // at least, as long as a lease

// A provider has answered, and our books did not take it. A person hears of it in a commit of its own, once, and the
// attempt is asked about again with growing gaps: the next answer may be taken.
export async function raiseTask(
  { db, watch }: PaymentDeps,
  asked: Attempt,
  reply: SanitizedReply,
  why: unknown,
  now: Date,
) {
  const note = `The provider says ${saidBy(reply)}. Why it was not written down: ${cleanError(why, maxWords)}`
  const task = await addNotRecorded(db, asked, note, now).catch(() => unwritten(asked, note, now))
  if (task) watch({ attempt: asked, events: [], tasks: [task] })
  const soonest = new Date(now.getTime() + Math.max(pollGap(asked.polls), restMs))
  await postponeAttempt(db, asked, soonest).catch(() => {}) // then it is asked about when its lease ends
}

function saidBy(reply: SanitizedReply): string {
  if (reply.state === 'paid') {
    const { amount, currency, provider_ref } = reply
    const said =
      amount === 'not_said' ? 'an amount that it does not say' : `${currency} ${figureIn(amount, currency)}`
    return `paid, ${said}${provider_ref ? `, reference ${provider_ref}` : ''}`
  }
  if (reply.state === 'failed') return `failed, ${reply.reason}`
  return 'words' in reply ? reply.words || reply.state : reply.state
}

// Not even the task could be written: the alarm is raised all the same.
const unwritten = ({ merchant_id, attempt_id, tx_reference }: Attempt, note: string, now: Date): Task => ({
  merchant_id,
  attempt_id,
  kind: 'not_recorded',
  tx_reference,
  amount: 0n,
  currency: '',
  note,
  created_at: now,
  closed_at: null,
  closed_note: null,
})
