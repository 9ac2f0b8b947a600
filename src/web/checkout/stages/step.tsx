import { submit } from '../../../actions/payments/submit.ts'
import type { Fields } from '../../../core/interface/json.ts'
import { FormToken, Sentence } from '../../../core/markup/page.tsx'
import type { Attempt } from '../../../core/payment/attempt.ts'
import { submissionsLeft, submissionWaitMs } from '../../../core/payment/customerActs.ts'
import type { FieldFault } from '../../../core/provider/formFields.ts'
import type { FormField, Step } from '../../../core/provider/paymentMethod.ts'
import { fill } from '../../../core/text.ts'
import type { Ctx } from '../../http/context.ts'
import { sendPage } from '../../pages/sendPage.ts'
import { type CheckoutOptions, redirectTo, onVisit } from '../open.tsx'
import { textsIn } from '../payRoute.tsx'
import { PaymentPage } from '../paymentPage.tsx'
import { RequestTime } from '../requestTime.tsx'
import { amountOf, attemptOf, linkTo, methodLabel, type View } from '../view.ts'
import { faultText, type Form, labelOf } from './form.ts'
import { Faults, Field } from './methodForm.tsx'
import { Problem } from './problem.tsx'
import { ProviderInstruction } from './providerInstruction.tsx'

const pollSeconds = 2

type StepProps = { view: View; attempt: Attempt; step: Step; form?: Pick<Form, 'input' | 'faults'> }

// The provider asks for input before it continues, such as a code or a voucher. The page polls, because the step may be
// done on another device. It never reloads without a change, because the customer is typing.
export const StepPage = ({ view, attempt, step, form = { input: {}, faults: [] } }: StepProps) => {
  const { t, lang } = view
  const method = methodLabel(view, attempt.payment_method)
  const hasFaults = form.faults.length > 0
  const title = hasFaults ? `${t.faults.in_title} · ${t.step.title}` : t.step.title
  return (
    <PaymentPage view={view} title={title} poll={pollSeconds}>
      {hasFaults && <Faults view={view} faults={form.faults} />}
      <section class="card">
        <h1>{t.step.title}</h1>
        <p>
          <Sentence
            text={t.step.text}
            method={method}
            amount={<strong class="whole">{amountOf(view)}</strong>}
          />
        </p>
        <Question view={view} attempt={attempt} step={step} method={method} />
        <TriesLeft view={view} attempt={attempt} />
        <form method="post" action={linkTo(view, '/step')} novalidate data-busy={t.frame.one_moment}>
          <FormToken token={view.formToken} />
          <input type="hidden" name="number" value={attempt.number} />
          <input type="hidden" name="submits" value={attempt.submits} />
          {step.fields.map(field => (
            <Field lang={lang} field={field} id={field.name} {...form} />
          ))}
          <p class="muted">{t.step.never_pin}</p>
          <button type="submit" class="btn wide big">
            {t.step.go_on}
          </button>
        </form>
        <RequestTime view={view} attempt={attempt} />
      </section>
      <Problem view={view} attempt={attempt} giveUp />
    </PaymentPage>
  )
}

// After the first submission: how many are left, and the wait before the next one. The button is never disabled,
// because without scripts the page cannot enable it again.
const TriesLeft = ({ view: { t, now }, attempt }: Pick<StepProps, 'view' | 'attempt'>) => {
  if (attempt.submits === 0) return null
  const seconds = Math.ceil(submissionWaitMs(attempt, now) / 1000)
  return (
    <>
      <p class="muted">{fill(t.step.tries_left, { count: submissionsLeft(attempt) })}</p>
      {seconds > 0 && <p data-count={seconds}>{fill(t.step.wait, { seconds })}</p>}
    </>
  )
}

type QuestionProps = Omit<StepProps, 'form'> & { method: string }

// After a submission the provider asks again: the input was wrong, it needs something else, or the result is unknown. The
// labels of known fields say what is wanted.
const Question = ({ view, attempt, step: { text, fields }, method }: QuestionProps) => (
  <>
    {attempt.submits > 0 && (
      <p class="note warn">
        <strong>
          <Sentence text={view.t.step.again} method={method} />
        </strong>
      </p>
    )}
    <ProviderInstruction
      view={view}
      attempt={attempt}
      text={text}
      isUnknown={fields.some(field => !Object.hasOwn(view.t.fields, field.name) && !field.words)}
    />
  </>
)

// The route of the step form. The next page shows the result. A faulty form is shown again, without the codes.
export const stepRoute =
  ({ runtime }: CheckoutOptions) =>
  async (c: Ctx, view: View, fields: Fields, deadline: number) => {
    const input = textsIn(fields)
    const rendered = renderedFor(fields)
    if (!rendered || view.checkout.stage !== 'step') return redirectTo(c, linkTo(view))
    const result = await submit(runtime, view.checkout, { ...rendered, input }, deadline)
    if (result.done === 'faults') return showStepAgain(c, view, input, result.faults, 422)
    if (result.done !== 'too_soon') return redirectTo(c, linkTo(view))
    // Nothing was submitted. The page shows how long to wait.
    return showStepAgain(c, view, input, [], 429, { 'retry-after': String(Math.ceil(result.waitMs / 1000)) })
  }

const isCount = (value: unknown): value is string => typeof value === 'string' && /^\d{1,4}$/.test(value)

// The attempt and its number of submissions when the page was rendered. A stale page submits nothing.
const renderedFor = ({ number, submits }: Fields) =>
  isCount(number) && isCount(submits) ? { number: Number(number), submits: Number(submits) } : undefined

function showStepAgain(
  c: Ctx,
  view: View,
  input: Readonly<Record<string, string>>,
  faults: readonly FieldFault[],
  http: number,
  headers = {},
) {
  const attempt = attemptOf(view)
  if (!attempt?.step) return redirectTo(c, linkTo(view))
  const { payment_method, step } = attempt
  const { fields } = step
  const form = {
    input: inputWithoutCodes(fields, input),
    faults: faults.map(fault => ({
      field: fault.field,
      label: labelOf(view, fields, fault.field),
      text: faultText(view, { payment_method, fields }, fault),
    })),
  }
  const page = <StepPage view={onVisit(view)} attempt={attempt} step={step} form={form} />
  return sendPage(c, page, http, headers)
}

// Codes are never echoed: the input may be a PIN, or a code that is still valid.
const inputWithoutCodes = (fields: readonly FormField[], input: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    fields.flatMap(({ name, kind }) => (kind === 'digits' ? [] : [[name, input[name] ?? '']])),
  )
