import { attemptOf, type View } from '../view.ts'
import { ChoosePage } from './choose.tsx'
import { CancelledPage, ClosedPage, DisputedPage, ExpiredPage, FailedPage, NoMethodsPage } from './ended.tsx'
import { freshForm } from './form.ts'
import { PaidPage } from './paid.tsx'
import { StepPage } from './step.tsx'
import { WaitPage } from './wait.tsx'

// The page for the current stage. `again`: what the customer chose after a failed attempt. `unfinished`: the customer
// came back from the card page without paying.
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
  view.checkout.methods.length === 0 ? (
    <NoMethodsPage view={view} />
  ) : (
    <ChoosePage view={view} form={freshForm(view, again ?? chosenOnGiveUp(view))} again={again} />
  )

// What the customer chose when giving up the last attempt.
function chosenOnGiveUp(view: View): string | undefined {
  const choice = attemptOf(view)?.gave_up_for
  return choice === 'method' ? 'other' : (choice ?? undefined)
}
