import { submit } from '../../../actions/payments/submit.ts'
import type { Fields } from '../../../core/interface/json.ts'
import { FormToken, Sentence } from '../../../core/markup/page.tsx'
import type { Attempt } from '../../../core/payment/attempt.ts'
import { submissionsLeft, submissionWaitMs } from '../../../core/payment/customerActs.ts'
import { ghanaNumbers } from '../../../core/phone.ts'
import type { FieldFault } from '../../../core/provider/formFields.ts'
import type { FormField, Step } from '../../../core/provider/paymentMethod.ts'
import { fill, stripBidiControls, unbroken } from '../../../core/text.ts'
import type { Ctx } from '../../http/context.ts'
import { sendPage } from '../../pages/sendPage.ts'
import { type CheckoutOptions, goTo, onVisit } from '../open.tsx'
import { textsIn } from '../payRoute.tsx'
import { PaymentPage } from '../paymentPage.tsx'
import { RequestTime } from '../requestTime.tsx'
import { amountOf, attemptOf, linkTo, methodLabel, type View } from '../view.ts'
import { fieldTexts, type Form, type FormFault } from './form.ts'
import { GiveUp } from './giveUp.tsx'
import { Faults, Field } from './methodForm.tsx'

const pollSeconds = 2

type StepProps = { view: View; attempt: Attempt; step: Step; form?: Pick<Form, 'typed' | 'faults'> }

// The provider asks for input before it continues, such as a code or a voucher. The page polls, because the step may be
// done on another device. It never reloads without a change, because the customer is typing.
export const StepPage = ({ view, attempt, step, form = { typed: {}, faults: [] } }: StepProps) => {
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
        <ProviderQuestion view={view} attempt={attempt} step={step} method={method} />
        <RequestTime view={view} attempt={attempt} />
        <TriesLeft view={view} attempt={attempt} />
        <form method="post" action={linkTo(view, '/step')} novalidate data-busy={t.frame.one_moment}>
          <FormToken token={view.formToken} />
          <input type="hidden" name="number" value={attempt.number} />
          <input type="hidden" name="submits" value={attempt.submits} />
          {step.fields.map(ask => (
            <Field lang={lang} ask={ask} id={ask.name} {...form} />
          ))}
          <p class="muted">{t.step.never_pin}</p>
          <button type="submit">{t.step.go_on}</button>
        </form>
        <GiveUp view={view} attempt={attempt} />
      </section>
      <p class="quiet">
        <a href={linkTo(view, '/cancel')}>{t.wait.cancel}</a>
      </p>
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

// The provider's own text. After a submission the provider asks again: the input was wrong, it needs something else, or
// the result is unknown.
const ProviderQuestion = ({ view: { t }, attempt, step: { text }, method }: QuestionProps) => {
  const isAgain = attempt.submits > 0
  if (!isAgain && !text) return null
  return (
    <p class={isAgain ? 'note warn' : 'note'}>
      {isAgain && (
        <>
          <strong>
            <Sentence text={t.step.again} method={method} />
          </strong>
          <br />
        </>
      )}
      {text && (
        <>
          <Sentence text={t.step.says} method={method} /> <bdi>{stripBidiControls(text)}</bdi>
        </>
      )}
    </p>
  )
}

// The route of the step form. The next page shows the result. A faulty form is shown again, without the codes.
export const stepRoute =
  ({ runtime }: CheckoutOptions) =>
  async (c: Ctx, view: View, fields: Fields, deadline: number) => {
    const typed = textsIn(fields)
    const rendered = renderedFor(fields)
    if (!rendered || view.checkout.stage !== 'step') return goTo(c, linkTo(view))
    const submitting = await submit(runtime, view.checkout, { ...rendered, input: typed }, deadline)
    if (submitting.done === 'faults') return showFaults(c, view, typed, submitting.faults)
    if (submitting.done === 'too_soon') return showWait(c, view, typed, submitting.waitMs)
    return goTo(c, linkTo(view))
  }

const isCount = (word: unknown): word is string => typeof word === 'string' && /^\d{1,4}$/.test(word)

// The attempt and its number of submissions when the page was rendered. A stale page submits nothing.
function renderedFor({ number, submits }: Fields): { number: number; submits: number } | undefined {
  return isCount(number) && isCount(submits)
    ? { number: Number(number), submits: Number(submits) }
    : undefined
}

// Nothing was submitted. The page shows how long to wait.
function showWait(c: Ctx, view: View, typed: Record<string, string>, waitMs: number) {
  const attempt = attemptOf(view)
  if (!attempt?.step) return goTo(c, linkTo(view))
  const form = { typed: inputWithoutCodes(attempt.step.fields, typed), faults: [] }
  const page = <StepPage view={onVisit(view)} attempt={attempt} step={attempt.step} form={form} />
  return sendPage(c, page, 429, { 'retry-after': String(Math.ceil(waitMs / 1000)) })
}

function showFaults(c: Ctx, view: View, typed: Record<string, string>, faults: readonly FieldFault[]) {
  const attempt = attemptOf(view)
  if (!attempt?.step) return goTo(c, linkTo(view))
  const { step } = attempt
  const form = {
    typed: inputWithoutCodes(step.fields, typed),
    faults: faults.map(fault => inWords(view, step.fields, fault)),
  }
  return sendPage(c, <StepPage view={onVisit(view)} attempt={attempt} step={step} form={form} />, 422)
}

// Codes are never echoed: the input may be a PIN, or a code that is still valid.
const inputWithoutCodes = (fields: readonly FormField[], typed: Record<string, string>) =>
  Object.fromEntries(
    fields.flatMap(({ name, kind }) => (kind === 'digits' ? [] : [[name, typed[name] ?? '']])),
  )

function inWords({ t, lang }: View, fields: readonly FormField[], { field, fault }: FieldFault): FormFault {
  const ask = fields.find(({ name }) => name === field)
  const label = ask ? fieldTexts(ask, t, lang).label : field
  return {
    field,
    text: fill(t.faults[fault], { label, method: '', country: '', example: unbroken(ghanaNumbers.example) }),
  }
}
