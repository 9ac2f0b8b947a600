import { isUnresolved } from '../../core/payment/attempt.ts'
import { decideSubmit as decide, type Submitted, type TooSoon } from '../../core/payment/customerActs.ts'
import { type FieldFault, readFormFields } from '../../core/provider/formFields.ts'
import { databaseDeadline, withShortDeadline } from '../../runtime/inTime.ts'
import type { Tx } from '../../store/db.ts'
import { attemptsOf, saveSubmitted } from '../../store/payments/attempts.ts'
import { addEvents } from '../../store/payments/events.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { lockPayment } from '../../store/payments/paymentLife.ts'
import { submitStep } from './callProvider.ts'
import type { PaymentDeps } from './deps.ts'

// What the customer typed at a step. `number` and `submits` are of the attempt that the page was made for.
export type StepInput = { number: number; submits: number; input: Readonly<Record<string, string>> }
export type Submitting =
  | { done: 'submitted' }
  | { done: 'nothing' }
  | { done: 'too_soon'; waitMs: number }
  | { done: 'faults'; faults: FieldFault[] }

// Carries on what the customer typed. That it was typed is stored before the provider hears of it, so that a second click
// carries on nothing; what was typed is never stored. The provider's answer is stored before ours is given, if it comes
// soon.
export async function submit(
  deps: PaymentDeps,
  payment: PaymentKey,
  wish: StepInput,
  deadline = databaseDeadline(),
): Promise<Submitting> {
  const db = deps.db.withQuota('submit').until(deadline)
  const decided = await db.transaction(tx => store(deps, tx, payment, wish))
  if (!decided) return { done: 'nothing' }
  if ('faults' in decided) return { done: 'faults', faults: decided.faults }
  if ('waitMs' in decided) return { done: 'too_soon', waitMs: decided.waitMs }
  const { attempt, step, given } = decided
  deps.watch({ ...decided, tasks: [] })
  await withShortDeadline(submitStep(deps, attempt, step, given))
  return { done: 'submitted' }
}

type Decided = (Submitted & { given: Record<string, string> }) | TooSoon | { faults: FieldFault[] }

// One transaction. Run again after a lost commit, it finds the step closed: the customer is asked again, by whoever asks
// the provider.
async function store(
  { providerAccounts, clock }: PaymentDeps,
  tx: Tx,
  key: PaymentKey,
  wish: StepInput,
): Promise<Decided | undefined> {
  const payment = await lockPayment(tx, key)
  if (!payment) return undefined
  const attempts = await attemptsOf(tx, key.merchant_id, key.tx_reference)
  const open = attempts.find(isUnresolved)
  if (!open?.step) return undefined
  const { timing: pace = {} } = providerAccounts.findFor(open)?.terms(open.payment_method) ?? {}
  const submitted = decide(payment, attempts, wish, pace, clock())
  if (!submitted || 'waitMs' in submitted) return submitted
  const { given, faults } = readFormFields({ fields: open.step.fields }, wish.input)
  if (faults.length > 0) return { faults }
  await saveSubmitted(tx, submitted.attempt)
  await addEvents(tx, key, submitted.events)
  return { ...submitted, given }
}
