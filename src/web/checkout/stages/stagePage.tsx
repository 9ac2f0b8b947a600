import { attemptOf, type View } from '../page/view.ts'
import { CancelledPage } from './cancel.tsx'
import { ChoosePage } from './choose.tsx'
import { FailedPage } from './failed.tsx'
import { freshForm } from './form.ts'
import { PaidPage } from './paid.tsx'
import { StepPage } from './step.tsx'
import { ClosedPage, DisputedPage, ExpiredPage, NowherePage } from './stopped.tsx'
import { WaitPage } from './wait.tsx'

// The page of a payment as it stands. `again` is what the customer chose after a failure, `unfinished` what they say of
// the card page.
export function stagePage(view: View, again?: string, unfinished = false) {
  const attempt = attemptOf(view)
  const { stage } = view.checkout
  if (stage === 'choose' || (stage === 'failed' && again)) return choosePage(view, again)
  if (stage === 'step' && attempt?.step) return <StepPage view={view} attempt={attempt} step={attempt.step} />
  if ((stage === 'wait' || stage === 'step') && attempt)
    return <WaitPage view={view} attempt={attempt} unfinished={unfinished} />
  if (stage === 'failed' || stage === 'over') return <FailedPage view={view} attempt={attempt} />
  if (stage === 'paid') return <PaidPage view={view} />
  if (stage === 'cancelled') return <CancelledPage view={view} />
  if (stage === 'disputed') return <DisputedPage view={view} />
  return stage === 'expired' ? <ExpiredPage view={view} /> : <ClosedPage view={view} />
}

const choosePage = (view: View, again: string | undefined) =>
  view.checkout.offers.length === 0 ? (
    <NowherePage view={view} />
  ) : (
    <ChoosePage view={view} form={freshForm(view, again ?? wentOnTo(view))} again={again} />
  )

// What a customer who gave the last one up has chosen.
function wentOnTo(view: View): string | undefined {
  const choice = attemptOf(view)?.gave_up_for
  return choice === 'way' ? 'other' : (choice ?? undefined)
}
