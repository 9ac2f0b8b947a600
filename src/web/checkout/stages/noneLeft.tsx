import type { Attempt } from '../../../core/payment/attempt.ts'
import { fill } from '../../../core/text.ts'
import { RequestTime } from '../page/requestTime.tsx'
import { labelOf, type View } from '../page/view.ts'
import { GiveUp } from './waitGivenUp.tsx'

// The provider still asks for a code, and no submission is left. The attempt is not failed: only the provider ends it.
export const NoneLeft = ({ view, attempt }: { view: View; attempt: Attempt }) => {
  const { step } = view.t
  return (
    <>
      <p>{fill(step.none_left_words, { way: labelOf(view, attempt.payment_method) })}</p>
      <RequestTime view={view} attempt={attempt} />
      <p>{step.none_left_then}</p>
      <GiveUp view={view} attempt={attempt} />
    </>
  )
}
