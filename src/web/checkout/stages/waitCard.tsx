import type { Attempt } from '../../../core/payment/attempt.ts'
import { RequestTime } from '../page/requestTime.tsx'
import { linkTo, type View, wholeWindow } from '../page/view.ts'
import { GiveUp } from './waitGivenUp.tsx'

type BodyProps = { view: View; attempt: Attempt }

// A plain link: a form that leads to another origin would be stopped by our own policy.
export const Redirect = ({ view, attempt }: BodyProps) => (
  <>
    <p>{view.t.wait.redirect_words}</p>
    <p>
      <a class="button" href={attempt.redirect_url ?? ''} rel="noreferrer" {...wholeWindow(view)}>
        {view.t.wait.to_card}
      </a>
    </p>
    <RequestTime view={view} attempt={attempt} />
    <p>{view.t.wait.confirming}</p>
    <GiveUp view={view} attempt={attempt} />
  </>
)

// Back from there, and the answer is open. The one link is for those who turned back before they had paid.
export const Bank = ({ view }: BodyProps) => (
  <>
    <p>{view.t.wait.bank_words}</p>
    <p class="quiet">
      <a href={linkTo(view, '', { unfinished: '1' })}>{view.t.wait.unfinished}</a>
    </p>
  </>
)
