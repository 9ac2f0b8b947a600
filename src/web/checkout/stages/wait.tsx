import type { Attempt } from '../../../core/payment/attempt.ts'
import { fill, parseUrl } from '../../../core/text.ts'
import { deferredExit } from '../page/exit.ts'
import { Leave } from '../page/leave.tsx'
import { PaymentPage } from '../page/paymentPage.tsx'
import { Say } from '../page/say.tsx'
import { Summary } from '../page/summary.tsx'
import { amountOf, labelOf, linkTo, offerOf, type View } from '../page/view.ts'
import { SaveCode } from '../code/saveCode.tsx'
import { Qr } from './qr.tsx'
import { TestTables } from './testTables.tsx'
import { Prompt } from './waitPrompt.tsx'

const pollSeconds = 2
const refreshSeconds = 5

// An attempt is on its way, and the provider has not said yes or no. The page looks again by itself; the link is for
// a script that got lost on the way.
export const WaitPage = ({ view, attempt }: { view: View; attempt: Attempt }) => {
  const { checkout, t } = view
  const { title, Body } = kindOf(view, attempt)
  // Submitted and not yet known: the shop's own page may wait as well as ours.
  const exit = deferredExit(checkout)
  return (
    <PaymentPage view={view} title={title} poll={pollSeconds} refresh={refreshSeconds}>
      <Summary view={view} timed />
      <section class="card">
        <h1 class="waiting">{title}</h1>
        <Body view={view} attempt={attempt} />
        <p class="muted">{t.wait.may_leave}</p>
      </section>
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

type BodyProps = { view: View; attempt: Attempt }

function kindOf(view: View, attempt: Attempt) {
  const { wait } = view.t
  if (attempt.redirect_url && !parseUrl(attempt.redirect_url)) return { title: wait.redirect, Body: Redirect }
  if (attempt.qr) return { title: wait.qr, Body: Scan }
  if (attempt.state === 'pending' && offerOf(view, attempt.payment_method)?.next !== 'redirect')
    return { title: wait.prompt, Body: Prompt }
  return { title: fill(wait.unknown, { way: labelOf(view, attempt.payment_method) }), Body: Unknown }
}

const Unknown = ({ view, attempt }: BodyProps) => (
  <p>{fill(view.t.wait.unknown_words, { way: labelOf(view, attempt.payment_method) })}</p>
)

// A plain link: a form that leads to another origin would be stopped by our own policy.
const Redirect = ({ view, attempt }: BodyProps) => (
  <>
    <p>{view.t.wait.redirect_words}</p>
    <p>
      <a class="button" href={attempt.redirect_url ?? ''} rel="noreferrer">
        {view.t.wait.to_card}
      </a>
    </p>
    {attempt.state === 'pending' ? (
      <p>{view.t.wait.confirming}</p>
    ) : (
      <Unknown view={view} attempt={attempt} />
    )}
  </>
)

const Scan = ({ view, attempt }: BodyProps) => (
  <>
    <p>
      <Say text={view.t.wait.qr_words} amount={<strong class="whole">{amountOf(view)}</strong>} />
    </p>
    <Qr text={attempt.qr ?? ''} title={view.t.wait.qr} />
    <SaveCode view={view} />
    {attempt.state !== 'pending' && <Unknown view={view} attempt={attempt} />}
  </>
)

const TestPhone = ({ view: { checkout, t, lang }, attempt }: BodyProps) =>
  checkout.testerPage && !attempt.redirect_url ? (
    <p>
      <a class="button plain" href={`${checkout.testerPage}?lang=${lang}`} target="_blank" rel="noopener">
        {t.wait.test_phone}
      </a>
    </p>
  ) : null
