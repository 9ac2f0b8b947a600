import type { Attempt } from '../../../core/payment/attempt.ts'
import { submissionsLeft } from '../../../core/payment/submissionLimit.ts'
import { fill, parseUrl } from '../../../core/text.ts'
import { Qr } from '../code/qr.tsx'
import { SaveCode } from '../code/saveCode.tsx'
import { deferredExit } from '../page/exit.ts'
import { Leave } from '../page/leave.tsx'
import { PaymentPage } from '../page/paymentPage.tsx'
import { RequestTime } from '../page/requestTime.tsx'
import { Say } from '../page/say.tsx'
import { amountOf, labelOf, linkTo, offerOf, type View } from '../page/view.ts'
import { NoneLeft } from './noneLeft.tsx'
import { TestTables } from './testTables.tsx'
import { Bank, Redirect } from './waitCard.tsx'
import { GivenUp, GiveUp } from './waitGivenUp.tsx'
import { Prompt } from './waitPrompt.tsx'

const pollSeconds = 2
const refreshSeconds = 5

// `unfinished`: the customer came back from the card page and says that nothing was paid there yet.
type WaitProps = { view: View; attempt: Attempt; unfinished?: boolean }

// An attempt is on its way, and the provider has not said yes or no. The page looks again by itself; the link is for
// a script that got lost on the way.
export const WaitPage = ({ view, attempt, unfinished = false }: WaitProps) => {
  const { checkout, t } = view
  const { title, Body } = kindOf(view, attempt, unfinished)
  // Submitted and not yet known: the shop's own page may wait as well as ours.
  const exit = deferredExit(checkout)
  return (
    <PaymentPage
      view={view}
      title={title}
      query={unfinished ? { unfinished: '1' } : {}}
      poll={pollSeconds}
      refresh={refreshSeconds}
    >
      <section class="card">
        <h1 class="waiting">{title}</h1>
        <Body view={view} attempt={attempt} />
      </section>
      <p class="quiet">{t.wait.may_leave}</p>
      <TestPhone view={view} attempt={attempt} />
      <p class="quiet">
        <a href={linkTo(view)}>{t.wait.look}</a>
      </p>
      <Leave view={view} exit={exit} text={t.wait.back} />
      <p class="quiet">
        <a href={linkTo(view, '/cancel')}>{t.wait.cancel}</a>
      </p>
      <TestTables view={view} />
    </PaymentPage>
  )
}

function kindOf(view: View, attempt: Attempt, unfinished: boolean) {
  const { wait } = view.t
  if (attempt.gave_up_at) return { title: wait.ending, Body: GivenUp }
  if (attempt.state === 'needs_input' && submissionsLeft(attempt) === 0)
    return { title: view.t.step.none_left, Body: NoneLeft }
  if (attempt.redirect_url && !parseUrl(attempt.redirect_url))
    return isBack(attempt) && !unfinished
      ? { title: wait.bank, Body: Bank }
      : { title: wait.redirect, Body: Redirect }
  if (attempt.qr) return { title: wait.qr, Body: Scan }
  if (attempt.state === 'pending' && offerOf(view, attempt.payment_method)?.next !== 'redirect')
    return { title: wait.prompt, Body: Prompt }
  return { title: fill(wait.unknown, { way: labelOf(view, attempt.payment_method) }), Body: Unknown }
}

// Whoever was on the card page may have paid there: they are not told to pay.
const isBack = ({ returned_at, state }: Attempt) => returned_at !== null || state !== 'pending'

const Unknown = ({ view, attempt }: WaitProps) => (
  <>
    <p>{fill(view.t.wait.unknown_words, { way: labelOf(view, attempt.payment_method) })}</p>
    <GiveUp view={view} attempt={attempt} />
  </>
)

const Scan = ({ view, attempt }: WaitProps) => (
  <>
    <p>
      <Say text={view.t.wait.qr_words} amount={<strong class="whole">{amountOf(view)}</strong>} />
    </p>
    <Qr text={attempt.qr ?? ''} title={view.t.wait.qr} />
    <SaveCode view={view} />
    <RequestTime view={view} attempt={attempt} />
    {attempt.state === 'pending' ? (
      <GiveUp view={view} attempt={attempt} />
    ) : (
      <Unknown view={view} attempt={attempt} />
    )}
  </>
)

const TestPhone = ({ view: { checkout, t, lang }, attempt }: WaitProps) =>
  checkout.testerPage && !attempt.redirect_url ? (
    <p>
      <a class="button plain" href={`${checkout.testerPage}?lang=${lang}`} target="_blank" rel="noopener">
        {t.wait.test_phone}
      </a>
    </p>
  ) : null
