import { maskPhone } from '../../../core/mask.ts'
import type { Attempt, GaveUpFor } from '../../../core/payment/attempt.ts'
import { FormToken } from '../../http/formToken.tsx'
import { Moment, RequestTime } from '../page/requestTime.tsx'
import { Say } from '../page/say.tsx'
import { attemptOf, linkTo, offerOf, type View } from '../page/view.ts'

type AttemptProps = { view: View; attempt: Attempt }

// The ways on for a customer who does not want to wait for this one. When the time to pay is over there are none.
export const GiveUp = ({ view, attempt }: AttemptProps) => {
  const { checkout, now, t } = view
  if (checkout.expires_at <= now) return null
  const next = offerOf(view, attempt.payment_method)?.next ?? 'prompt'
  const isPrompt = next === 'prompt' && attempt.instrument !== null
  return (
    <>
      <div class="pair">
        {isPrompt && <GiveUpForm view={view} attempt={attempt} to="number" words={t.wait.wrong_number} />}
        {(!isPrompt || checkout.offers.length > 1) && (
          <GiveUpForm view={view} attempt={attempt} to="way" words={t.wait.other_way} />
        )}
      </div>
      <p class="muted">{t.wait.counts[next]}</p>
    </>
  )
}

type FormProps = AttemptProps & { to: GaveUpFor; words: string }

const GiveUpForm = ({ view, attempt, to, words }: FormProps) => (
  <form method="post" action={linkTo(view, '/give-up')} data-busy={view.t.frame.one_moment}>
    <FormToken token={view.formToken} />
    <input type="hidden" name="number" value={attempt.number} />
    <button type="submit" class="plain" name="for" value={to}>
      {words}
    </button>
  </form>
)

// Given up, and the provider has not ended it yet: what happens, and until when.
export const GivenUp = ({ view, attempt }: AttemptProps) => {
  const { wait } = view.t
  const { requestEndsAt: endsAt, expires_at } = view.checkout
  const number = attempt.instrument?.startsWith('+') ? maskPhone(attempt.instrument) : undefined
  return (
    <>
      <p>
        {number ? (
          <Say text={wait.ending_words} number={<strong class="whole">{number}</strong>} />
        ) : (
          wait.ending_somewhere
        )}
      </p>
      <RequestTime view={view} attempt={attempt} over={wait.go_on_then}>
        {endsAt && endsAt < expires_at && (
          <p>
            <Say text={wait.go_on} time={<Moment view={view} at={endsAt} />} />
          </p>
        )}
      </RequestTime>
      {!endsAt && <p>{wait.go_on_then}</p>}
    </>
  )
}

// Why somebody who has given a request up is asked how to pay again.
export const OldRequest = ({ view }: { view: View }) => {
  const last = attemptOf(view)
  return last?.state === 'failed' && last.gave_up_at && last.reason !== 'given_up' ? (
    <p class="note">{view.t.wait.old_ended}</p>
  ) : null
}
