import type { Step } from '../../../core/channel/way.ts'
import type { Attempt } from '../../../core/payment/attempt.ts'
import { submissionsLeft, submissionWaitMs } from '../../../core/payment/submissionLimit.ts'
import { fill, withoutTurns } from '../../../core/text.ts'
import { FormToken } from '../../http/formToken.tsx'
import { PaymentPage } from '../page/paymentPage.tsx'
import { RequestTime } from '../page/requestTime.tsx'
import { Say } from '../page/say.tsx'
import { amountOf, labelOf, linkTo, type View } from '../page/view.ts'
import { Faults } from './faults.tsx'
import type { Form } from './form.ts'
import { GiveUp } from './waitGivenUp.tsx'
import { Field } from './way.tsx'

const pollSeconds = 2

type StepProps = { view: View; attempt: Attempt; step: Step; form?: Pick<Form, 'typed' | 'faults'> }

// The provider wants something typed before it goes on: a code that it has sent, a voucher. The page looks whether that
// was done on another device; it does not load itself anew, because somebody is typing.
export const StepPage = ({ view, attempt, step, form = { typed: {}, faults: [] } }: StepProps) => {
  const { t, lang } = view
  const way = labelOf(view, attempt.payment_method)
  const hasFaults = form.faults.length > 0
  const title = hasFaults ? `${t.faults.in_title} · ${t.step.title}` : t.step.title
  return (
    <PaymentPage view={view} title={title} poll={pollSeconds}>
      {hasFaults && <Faults view={view} faults={form.faults} />}
      <section class="card">
        <h1>{t.step.title}</h1>
        <p>
          <Say text={t.step.words} way={way} amount={<strong class="whole">{amountOf(view)}</strong>} />
        </p>
        <Asked view={view} attempt={attempt} step={step} way={way} />
        <RequestTime view={view} attempt={attempt} />
        <NextTry view={view} attempt={attempt} />
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

// After the first submission: how many are left, and how long to wait for the next. The button stays: without scripts the
// page does not notice that the wait is over.
const NextTry = ({ view: { t, now }, attempt }: Pick<StepProps, 'view' | 'attempt'>) => {
  if (attempt.submits === 0) return null
  const seconds = Math.ceil(submissionWaitMs(attempt, now) / 1000)
  return (
    <>
      <p class="muted">{fill(t.step.tries_left, { count: submissionsLeft(attempt) })}</p>
      {seconds > 0 && <p data-count={seconds}>{fill(t.step.wait, { seconds })}</p>}
    </>
  )
}

type AskedProps = Omit<StepProps, 'form'> & { way: string }

// In the provider's own words. After something was typed it asks once more: that was wrong, or it wants something else, or
// what became of it is not known; it alone can say.
const Asked = ({ view: { t }, attempt, step: { text }, way }: AskedProps) => {
  const isAgain = attempt.submits > 0
  if (!isAgain && !text) return null
  return (
    <p class={isAgain ? 'note warn' : 'note'}>
      {isAgain && (
        <>
          <strong>
            <Say text={t.step.again} way={way} />
          </strong>
          <br />
        </>
      )}
      {text && (
        <>
          <Say text={t.step.says} way={way} /> <bdi>{withoutTurns(text)}</bdi>
        </>
      )}
    </p>
  )
}
