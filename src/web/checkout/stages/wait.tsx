import { Sentence } from '../../../core/markup/page.tsx'
import { maskPhone } from '../../../core/mask.ts'
import type { Attempt } from '../../../core/payment/attempt.ts'
import { submissionsLeft } from '../../../core/payment/customerActs.ts'
import { fill, parseUrl, stripBidiControls } from '../../../core/text.ts'
import { deferredExit, ShopLink } from '../exit.tsx'
import { PaymentPage } from '../paymentPage.tsx'
import { Qr } from '../qrCode.tsx'
import { RequestTime } from '../requestTime.tsx'
import {
  amountOf,
  type AttemptProps,
  linkTo,
  methodLabel,
  methodOf,
  resourceOf,
  type View,
  topTarget,
} from '../view.ts'
import { EndingRequest, GiveUp } from './giveUp.tsx'
import { TestTables } from './testEndings.tsx'

const pollSeconds = 2
const refreshSeconds = 5

// The attempt has no result yet. The page polls; the link is for a browser whose script did not load. `unfinished`: the
// customer returned from the card page without paying.
export const WaitPage = ({ view, attempt, unfinished }: AttemptProps & { unfinished: boolean }) => {
  const { checkout, t } = view
  const { title, Body } = contentFor(view, attempt, unfinished)
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
        <a href={linkTo(view)}>{t.wait.check_again}</a>
      </p>
      {/* The customer may also wait on the shop's page. */}
      <ShopLink view={view} exit={deferredExit(checkout)} text={t.wait.back} />
      <p class="quiet">
        <a href={linkTo(view, '/cancel')}>{t.wait.cancel}</a>
      </p>
      <TestTables view={view} />
    </PaymentPage>
  )
}

function contentFor(view: View, attempt: Attempt, unfinished: boolean) {
  const { wait } = view.t
  if (attempt.gave_up_at) return { title: wait.ending, Body: EndingRequest }
  if (attempt.state === 'needs_input' && submissionsLeft(attempt) === 0)
    return { title: view.t.step.none_left, Body: NoneLeft }
  if (attempt.redirect_url && !parseUrl(attempt.redirect_url))
    return hasReturned(attempt) && !unfinished
      ? { title: wait.bank, Body: AskingBank }
      : { title: wait.redirect, Body: Redirect }
  if (attempt.qr) return { title: wait.qr, Body: ScanCode }
  if (attempt.state === 'pending' && methodOf(view, attempt.payment_method)?.next !== 'redirect')
    return { title: wait.prompt, Body: Prompt }
  return { title: fill(wait.unknown, { method: methodLabel(view, attempt.payment_method) }), Body: Unknown }
}

// A customer who has returned from the card page may have paid, so the page does not ask to pay.
const hasReturned = ({ returned_at, state }: Attempt) => returned_at !== null || state !== 'pending'

const Unknown = ({ view, attempt }: AttemptProps) => (
  <>
    <p>{fill(view.t.wait.unknown_text, { method: methodLabel(view, attempt.payment_method) })}</p>
    <GiveUp view={view} attempt={attempt} />
  </>
)

const ScanCode = ({ view, attempt }: AttemptProps) => (
  <>
    <p>
      <Sentence text={view.t.wait.qr_text} amount={<strong class="whole">{amountOf(view)}</strong>} />
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

const TestPhone = ({ view: { checkout, t, lang }, attempt }: AttemptProps) =>
  checkout.testerPage && !attempt.redirect_url ? (
    <p>
      <a class="button plain" href={`${checkout.testerPage}?lang=${lang}`} target="_blank" rel="noopener">
        {t.wait.test_phone}
      </a>
    </p>
  ) : null

// Explains what the phone asks, and how to find the request.
const Prompt = ({ view, attempt }: AttemptProps) => {
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
          <Sentence
            text={t.wait.sent}
            number={<strong class="whole">{maskPhone(attempt.instrument)}</strong>}
          />
        ) : (
          t.wait.sent_somewhere
        )}
      </p>
      <ProviderText view={view} attempt={attempt} />
      <RequestTime view={view} attempt={attempt} />
      <ol class="steps">
        <li>{fill(t.wait.step_look, { method: methodLabel(view, attempt.payment_method) })}</li>
        <li>
          <Sentence text={t.wait.step_check} amount={amount} shop={shop} />
        </li>
        <li>{t.wait.step_pin}</li>
      </ol>
      <p>
        <strong>{t.wait.no_request}</strong> <Dial view={view} payment_method={attempt.payment_method} />
      </p>
      <GiveUp view={view} attempt={attempt} />
    </>
  )
}

// The provider's own text for its customer.
const ProviderText = ({ view, attempt }: AttemptProps) =>
  attempt.provider_text ? (
    <p class="note">
      <Sentence text={view.t.step.provider_text} method={methodLabel(view, attempt.payment_method)} />{' '}
      <bdi>{stripBidiControls(attempt.provider_text)}</bdi>
    </p>
  ) : null

const Dial = ({ view, payment_method }: { view: View; payment_method: string }) => {
  const { wait } = view.t
  const dial = methodOf(view, payment_method)?.dial
  if (!dial) return <>{wait.dial_unknown}</>
  const code = (
    <a class="whole" href={`tel:${encodeURIComponent(dial.code)}`}>
      {dial.code}
    </a>
  )
  return dial.steps ? (
    <Sentence text={wait.dial_steps} code={code} steps={dial.steps} />
  ) : (
    <Sentence text={wait.dial} code={code} />
  )
}

// A link and not a form, because the form-action policy blocks other origins.
const Redirect = ({ view, attempt }: AttemptProps) => (
  <>
    <p>{view.t.wait.redirect_text}</p>
    <p>
      <a class="button" href={attempt.redirect_url ?? ''} rel="noreferrer" {...topTarget(view)}>
        {view.t.wait.to_card}
      </a>
    </p>
    <RequestTime view={view} attempt={attempt} />
    <p>{view.t.wait.confirming}</p>
    <GiveUp view={view} attempt={attempt} />
  </>
)

// The customer has returned, and the result is unknown. The link is for a customer who did not pay.
const AskingBank = ({ view }: AttemptProps) => (
  <>
    <p>{view.t.wait.bank_text}</p>
    <p class="quiet">
      <a href={linkTo(view, '', { unfinished: '1' })}>{view.t.wait.unfinished}</a>
    </p>
  </>
)

// The provider still asks for a code, but no submission is left. The attempt has not failed: only the provider ends it.
const NoneLeft = ({ view, attempt }: AttemptProps) => {
  const { step } = view.t
  return (
    <>
      <p>{fill(step.none_left_text, { method: methodLabel(view, attempt.payment_method) })}</p>
      <RequestTime view={view} attempt={attempt} />
      <p>{step.none_left_then}</p>
      <GiveUp view={view} attempt={attempt} />
    </>
  )
}

// On a small screen the code is on the phone that should scan it. The GhQR standard has no link that opens a bank's
// app, but these apps read a code from the gallery.
const SaveCode = ({ view }: { view: View }) => (
  <div class="narrow">
    <p class="muted">{view.t.wait.qr_here}</p>
    <p>
      <a
        class="button plain"
        href={resourceOf(view, '/code.png')}
        download={`${view.checkout.tx_reference}.png`}
      >
        {view.t.wait.qr_save}
      </a>
    </p>
  </div>
)
