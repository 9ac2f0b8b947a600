import { giveUp, type GiveUpRequest } from '../../../actions/payments/giveUp.ts'
import type { Fields } from '../../../core/interface/json.ts'
import { Sentence } from '../../../core/markup/page.tsx'
import { maskPhone } from '../../../core/mask.ts'
import { gaveUpFor } from '../../../core/payment/attempt.ts'
import type { Ctx } from '../../http/context.ts'
import { type CheckoutOptions, redirectTo } from '../open.tsx'
import { LocalTime, RequestTime } from '../requestTime.tsx'
import { attemptOf, type AttemptProps, linkTo, type View } from '../view.ts'

// The customer has given up the attempt, and the provider has not ended it yet.
export const EndingRequest = ({ view, attempt }: AttemptProps) => {
  const { wait } = view.t
  const { requestEndsAt: endsAt, expires_at } = view.checkout
  const number = attempt.instrument?.startsWith('+') ? maskPhone(attempt.instrument) : undefined
  return (
    <>
      <p>
        {number ? (
          <Sentence text={wait.ending_text} number={<strong class="whole">{number}</strong>} />
        ) : (
          wait.ending_somewhere
        )}
      </p>
      <RequestTime view={view} attempt={attempt} over={wait.go_on_then}>
        {endsAt && endsAt < expires_at && (
          <p>
            <Sentence text={wait.go_on} time={<LocalTime view={view} at={endsAt} />} />
          </p>
        )}
      </RequestTime>
      {!endsAt && <p>{wait.go_on_then}</p>}
    </>
  )
}

// Explains why the customer is asked for a payment method again.
export const OldRequestEnded = ({ view }: { view: View }) => {
  const last = attemptOf(view)
  return last?.state === 'failed' && last.gave_up_at && last.reason !== 'given_up' ? (
    <p class="note">{view.t.wait.old_ended}</p>
  ) : null
}

// The route of the buttons for another number and another payment method. The next page shows the result.
export const giveUpRoute =
  ({ runtime }: CheckoutOptions) =>
  async (c: Ctx, view: View, fields: Fields, deadline: number) => {
    const request = readGiveUp(fields)
    if (request && ['wait', 'step'].includes(view.checkout.stage))
      await giveUp(runtime, view.checkout, request, deadline)
    return redirectTo(c, linkTo(view))
  }

function readGiveUp({ number, for: choice }: Fields): GiveUpRequest | undefined {
  const gave_up_for = gaveUpFor.find(one => one === choice)
  if (!gave_up_for || typeof number !== 'string' || !/^\d{1,4}$/.test(number)) return undefined
  return { number: Number(number), gave_up_for }
}
