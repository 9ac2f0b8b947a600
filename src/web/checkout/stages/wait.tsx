import type { Child } from '../../../core/markup/jsx-runtime.ts'
import { Sentence } from '../../../core/markup/page.tsx'
import { maskPhone } from '../../../core/mask.ts'
import type { Attempt } from '../../../core/payment/attempt.ts'
import { submissionsLeft } from '../../../core/payment/customerActs.ts'
import { fill, parseUrl } from '../../../core/text.ts'
import { deferredExit, ShopLink } from '../exit.tsx'
import { PaymentPage } from '../paymentPage.tsx'
import { Qr } from '../qrCode.tsx'
import { RequestTime } from '../requestTime.tsx'
import {
  amountOf,
  type AttemptProps,
  methodLabel,
  nextOf,
  resourceOf,
  type View,
  topTarget,
} from '../view.ts'
import { EndingRequest } from './giveUp.tsx'
import { PhonePicture } from './phonePicture.tsx'
import { Problem, type ProblemKinds } from './problem.tsx'
import { ProviderInstruction } from './providerInstruction.tsx'
import { TestPhoneFrame, TestPhoneLink } from './testPhone.tsx'
import { TestTables } from './testEndings.tsx'

const pollSeconds = 2
const refreshSeconds = 5

// How the customer came here. `unfinished`: back from the card page without paying. `forward`: by the button to pay, so
// the page of another provider opens by itself. `isReload`: the page has reloaded itself, because scripts are off.
export type Arrival = { unfinished?: boolean; forward?: boolean; isReload?: boolean }

type WaitProps = AttemptProps & { arrival: Arrival }

// The attempt has no result yet. The page polls, and has one instruction; everything else is under "Problem?".
export const WaitPage = ({ view, attempt, arrival }: WaitProps) => {
  const { title, Body, kinds } = contentFor(view, attempt, arrival)
  return (
    <PaymentPage
      view={view}
      title={title}
      query={queryOf(arrival)}
      poll={pollSeconds}
      refresh={refreshSeconds}
      reloaded={{ reload: '1' }}
      forward={forwardOf(attempt, arrival)}
      aside={<TestPhoneFrame view={view} attempt={attempt} />}
    >
      <section class="card ask">
        {Body === Prompt && <PhonePicture view={view} attempt={attempt} />}
        <div class="text">
          <h1>{title}</h1>
          <Body view={view} attempt={attempt} />
        </div>
      </section>
      <Problem view={view} attempt={attempt} isOpen={arrival.isReload} {...kinds} />
      <TestPhoneLink view={view} attempt={attempt} />
      <p class="after">{view.willText ? view.t.wait.may_leave_text : view.t.wait.may_leave}</p>
      {/* The customer may also wait on the shop's page. */}
      <ShopLink view={view} exit={deferredExit(view.checkout)} text={view.t.wait.back} />
      <TestTables view={view} />
    </PaymentPage>
  )
}

const queryOf = ({ unfinished, forward }: Arrival): Record<string, string> => ({
  ...(unfinished && { unfinished: '1' }),
  ...(forward && { forward: '1' }),
})

// The address to which the page forwards: once, and not a customer who has been there.
function forwardOf(attempt: Attempt, { forward }: Arrival): string | undefined {
  const { redirect_url } = attempt
  return forward && redirect_url && !parseUrl(redirect_url) && !hasReturned(attempt)
    ? redirect_url
    : undefined
}

type Content = { title: string; Body: (props: AttemptProps) => Child; kinds: ProblemKinds }

function contentFor(view: View, attempt: Attempt, arrival: Arrival): Content {
  const { wait } = view.t
  const giveUp = { giveUp: true }
  if (attempt.gave_up_at) return { title: wait.ending, Body: EndingRequest, kinds: {} }
  if (attempt.state === 'needs_input' && submissionsLeft(attempt) === 0)
    return { title: view.t.step.none_left, Body: NoneLeft, kinds: giveUp }
  if (attempt.redirect_url && !parseUrl(attempt.redirect_url)) return redirectContent(view, attempt, arrival)
  if (attempt.qr) return { title: wait.qr, Body: ScanCode, kinds: giveUp }
  if (attempt.state === 'pending' && nextOf(view, attempt) !== 'redirect')
    return { title: wait.prompt, Body: Prompt, kinds: { giveUp: true, noMessage: true } }
  const title = fill(wait.unknown, { method: methodLabel(view, attempt.payment_method) })
  return { title, Body: Unknown, kinds: giveUp }
}

function redirectContent({ t: { wait } }: View, attempt: Attempt, arrival: Arrival): Content {
  if (hasReturned(attempt) && !arrival.unfinished)
    return { title: wait.bank, Body: AskingBank, kinds: { unfinished: true } }
  const title = forwardOf(attempt, arrival) ? wait.forward : wait.redirect
  return { title, Body: Redirect, kinds: { giveUp: true } }
}

// A customer who has returned from the card page may have paid, so the page does not ask to pay.
const hasReturned = ({ returned_at, state }: Attempt) => returned_at !== null || state !== 'pending'

const Unknown = ({ view, attempt }: AttemptProps) => (
  <p>{fill(view.t.wait.unknown_text, { method: methodLabel(view, attempt.payment_method) })}</p>
)

const ScanCode = ({ view, attempt }: AttemptProps) => (
  <>
    <p>
      <Sentence text={view.t.wait.qr_text} amount={<strong class="whole">{amountOf(view)}</strong>} />
    </p>
    <Qr text={attempt.qr ?? ''} title={view.t.wait.qr} />
    <SaveCode view={view} />
    <RequestTime view={view} attempt={attempt} />
    {attempt.state !== 'pending' && <Unknown view={view} attempt={attempt} />}
  </>
)

// Who asks which number for how much, and for whom.
const Prompt = ({ view, attempt }: AttemptProps) => {
  const { checkout, t } = view
  const facts = {
    method: methodLabel(view, attempt.payment_method),
    amount: <b class="whole">{amountOf(view)}</b>,
    shop: (
      <b>
        <bdi>{checkout.merchant_name}</bdi>
      </b>
    ),
  }
  return (
    <>
      <p>
        {attempt.instrument ? (
          <Sentence
            text={t.wait.asks}
            number={<b class="whole">{maskPhone(attempt.instrument)}</b>}
            {...facts}
          />
        ) : (
          <Sentence text={t.wait.asks_somewhere} {...facts} />
        )}
      </p>
      <ProviderInstruction view={view} attempt={attempt} text={attempt.provider_text} />
      <p class="muted">{t.wait.never_pin}</p>
      <RequestTime view={view} attempt={attempt} />
    </>
  )
}

// A link and not a form, because the form-action policy blocks other origins.
const Redirect = ({ view, attempt }: AttemptProps) => (
  <>
    <p>{view.t.wait.redirect_text}</p>
    <p>
      <a class="btn wide big" href={attempt.redirect_url ?? ''} rel="noreferrer" {...topTarget(view)}>
        {view.t.wait.to_card}
      </a>
    </p>
    <RequestTime view={view} attempt={attempt} />
    <p class="muted">{view.t.wait.confirming}</p>
  </>
)

// The customer has returned, and the result is unknown.
const AskingBank = ({ view }: AttemptProps) => <p>{view.t.wait.bank_text}</p>

// The provider still asks for a code, but no submission is left. The attempt has not failed: only the provider ends it.
const NoneLeft = ({ view, attempt }: AttemptProps) => {
  const { step } = view.t
  return (
    <>
      <p>{fill(step.none_left_text, { method: methodLabel(view, attempt.payment_method) })}</p>
      <RequestTime view={view} attempt={attempt} />
      <p>{step.none_left_then}</p>
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
        class="btn plain wide"
        href={resourceOf(view, '/code.png')}
        download={`${view.checkout.tx_reference}.png`}
      >
        {view.t.wait.qr_save}
      </a>
    </p>
  </div>
)
