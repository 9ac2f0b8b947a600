import { isUnresolved } from '../../core/payment/attempt.ts'
import { decideSubmit, type Submission, type TooSoon } from '../../core/payment/customerActs.ts'
import { type FieldFault, readFormFields } from '../../core/provider/formFields.ts'
import { databaseDeadline, withShortDeadline } from '../../runtime/deadline.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import type { Tx } from '../../store/db.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { requireOriginal } from '../installation/requireOriginal.ts'
import { submitStep } from './callProvider.ts'
import { changeOf, changeOne } from './writeChanges.ts'

// The customer's input at a step. `number` and `submits` are of the attempt that the page was made for.
type StepInput = { number: number; submits: number; input: Readonly<Record<string, string>> }
type SubmitResult =
  | { done: 'submitted' }
  | { done: 'nothing' }
  | { done: 'too_soon'; waitMs: number }
  | { done: 'faults'; faults: FieldFault[] }

// Sends the customer's input to the provider. The submission is stored first, so that a second click sends nothing; the
// input itself is never stored. If the provider's reply comes soon, it is stored before this returns. Run again after a lost
// commit, the transaction finds the step closed; a poll opens it again.
export async function submit(
  deps: PaymentDeps,
  key: PaymentKey,
  request: StepInput,
  deadline = databaseDeadline(),
): Promise<SubmitResult> {
  const db = deps.db.withQuota('submit').withDeadline(deadline)
  const decided = await changeOne<Decided | undefined>(db, deps.localWorkers, key, async (tx, payment) => {
    requireOriginal(deps, payment.mode)
    const answer = await decide(deps, tx, payment, request)
    if (!answer || !('step' in answer)) return { answer }
    return { answer, change: { ...changeOf(payment, payment, answer.events), actedAttempt: answer.attempt } }
  })
  if (!decided) return { done: 'nothing' }
  if ('faults' in decided) return { done: 'faults', faults: decided.faults }
  if ('waitMs' in decided) return { done: 'too_soon', waitMs: decided.waitMs }
  const { attempt, step, given } = decided
  deps.watch({ ...decided, tasks: [] })
  await withShortDeadline(submitStep(deps, attempt, step, given))
  return { done: 'submitted' }
}

type Decided = (Submission & { given: Record<string, string> }) | TooSoon | { faults: FieldFault[] }

async function decide(
  { providerAccounts, clock }: PaymentDeps,
  tx: Tx,
  payment: PaymentWithMerchant,
  request: StepInput,
): Promise<Decided | undefined> {
  const attempts = await attemptsOf(tx, payment.merchant_id, payment.tx_reference)
  const open = attempts.find(isUnresolved)
  if (!open?.step) return undefined
  const { timing = {} } = providerAccounts.findFor(open)?.terms(open.payment_method) ?? {}
  const submitted = decideSubmit(payment, attempts, request, timing, clock())
  if (!submitted || 'waitMs' in submitted) return submitted
  const { given, faults } = readFormFields({ fields: open.step.fields }, request.input)
  return faults.length > 0 ? { faults } : { ...submitted, given }
}
