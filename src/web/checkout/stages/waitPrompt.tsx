import { maskPhone } from '../../../core/mask.ts'
import type { Attempt } from '../../../core/payment/attempt.ts'
import { fill, withoutTurns } from '../../../core/text.ts'
import { RequestTime } from '../page/requestTime.tsx'
import { Say } from '../page/say.tsx'
import { amountOf, labelOf, offerOf, type View } from '../page/view.ts'
import { GiveUp } from './waitGivenUp.tsx'

// The customer's phone asks; this page says what it will ask, and how to find it.
export const Prompt = ({ view, attempt }: { view: View; attempt: Attempt }) => {
  const { checkout, t } = view
  const amount = <strong class="whole">{amountOf(view)}</strong>
  const shop = (
    <strong>
      <bdi>{checkout.merchant_name}</bdi>
    </strong>
  )
  return (
    <>
      <p>
        {attempt.instrument ? (
          <Say text={t.wait.sent} number={<strong class="whole">{maskPhone(attempt.instrument)}</strong>} />
        ) : (
          t.wait.sent_somewhere
        )}
      </p>
      <ProviderText view={view} attempt={attempt} />
      <RequestTime view={view} attempt={attempt} />
      <ol class="steps">
        <li>{fill(t.wait.step_look, { way: labelOf(view, attempt.payment_method) })}</li>
        <li>
          <Say text={t.wait.step_check} amount={amount} shop={shop} />
        </li>
        <li>{t.wait.step_pin}</li>
      </ol>
      <p>
        <strong>{t.wait.none_came}</strong> <Dial view={view} payment_method={attempt.payment_method} />
      </p>
      <GiveUp view={view} attempt={attempt} />
    </>
  )
}

// What the provider itself has to say to its customer.
const ProviderText = ({ view, attempt }: { view: View; attempt: Attempt }) =>
  attempt.provider_text ? (
    <p class="note">
      <Say text={view.t.step.says} way={labelOf(view, attempt.payment_method)} />{' '}
      <bdi>{withoutTurns(attempt.provider_text)}</bdi>
    </p>
  ) : null

const Dial = ({ view, payment_method }: { view: View; payment_method: string }) => {
  const { wait } = view.t
  const dial = offerOf(view, payment_method)?.dial
  if (!dial) return <>{wait.dial_unknown}</>
  const code = (
    <a class="whole" href={`tel:${encodeURIComponent(dial.code)}`}>
      {dial.code}
    </a>
  )
  return dial.steps ? (
    <Say text={wait.dial_steps} code={code} steps={dial.steps} />
  ) : (
    <Say text={wait.dial} code={code} />
  )
}
