import { type AskedPhone, mayAskAgain, type TakenDay } from '../../../actions/takenPayments/followTaken.ts'
import type { Checkout } from '../../../actions/payments/openCheckout.ts'
import { languages } from '../../../core/languages/languages.ts'
import type { Child } from '../../../core/markup/jsx-runtime.ts'
import { FormToken, Icon } from '../../../core/markup/page.tsx'
import { maskPhone } from '../../../core/mask.ts'
import { type Attempt, isUnresolved } from '../../../core/payment/attempt.ts'
import { paymentMethodName } from '../../../core/provider/paymentMethod.ts'
import { fill } from '../../../core/text.ts'
import { Qr } from '../../checkout/qrCode.tsx'
import { secondsUntil, versionOf } from '../../checkout/view.ts'
import type { MerchantVisit } from '../route.ts'
import { clockTime, CounterIcon, CounterPage, moneyFor, textsOf } from './takeParts.tsx'
import { paidSentence } from './takePage.tsx'

const refreshSeconds = 5 // without scripts

export type TakenView = {
  visit: MerchantVisit
  checkout: Checkout
  link: string // of the checkout page
  timeZone: string
  receiptTo: readonly string[]
  day?: TakenDay
  asked?: AskedPhone // whether the phone was asked, right after the button was pressed
}

// The payment that was just taken: waiting, paid, or ended without payment. It changes by itself.
export const TakenPage = (view: TakenView) => {
  const { stage } = view.checkout
  if (stage === 'paid') return <PaidPage {...view} />
  const isOpen = stage === 'wait' || stage === 'step' || stage === 'choose' || stage === 'failed'
  return isOpen ? <WaitingPage {...view} /> : <EndedPage {...view} />
}

const pathOf = ({ visit, checkout }: TakenView) => `${visit.base}/take/${checkout.tx_reference}`

// The script compares the version, and loads the page again when it has changed. Without scripts it reloads.
const Follow = (view: TakenView) => (
  <div hidden data-state={`${pathOf(view)}/state`} data-version={versionOf(view)}></div>
)

const reload = (
  <noscript>
    <meta http-equiv="refresh" content={String(refreshSeconds)} />
  </noscript>
)

const SumRow = ({ visit, checkout }: TakenView) => (
  <div class="sumrow">
    <span class="total num">{moneyFor(visit, checkout.total, checkout.currency)}</span>
    <span class="muted">{subjectOf(checkout)}</span>
  </div>
)

const subjectOf = ({ description, outlet }: Checkout) =>
  [description, outlet].filter(text => text !== null).join(', ')

const WaitingPage = (view: TakenView) => {
  const { visit, checkout } = view
  const texts = textsOf(visit)
  const unresolved = checkout.attempts.find(isUnresolved)
  const phone = unresolved?.instrument?.startsWith('+') ? maskPhone(unresolved.instrument) : undefined
  const title = fill(texts.waitingFor, { who: phone ?? texts.theCustomer })
  return (
    <CounterPage visit={visit} title={title} head={reload}>
      <Back visit={visit} />
      <SumRow {...view} />
      <AskedNotice {...view} />
      {checkout.stage === 'failed' && <Failed {...view} />}
      <section class="card ask-state" aria-live="polite">
        <h1>{title}</h1>
        <p>{unresolved ? progressOf(view, unresolved) : texts.choosing}</p>
        <TimeLeft {...view} attempt={unresolved} />
      </section>
      <Code {...view} isAsked={unresolved !== undefined} />
      <div class="pair">
        <ShareLink {...view} />
        {mayAskAgain(checkout) && <AskButton {...view} />}
      </div>
      <CancelForm {...view} />
      <Follow {...view} />
    </CounterPage>
  )
}

const Back = ({ visit }: { visit: MerchantVisit }) => (
  <p class="crumb">
    <a class="who" href={`${visit.base}/take`}>
      <CounterIcon name="back" />
      {textsOf(visit).title}
    </a>
  </p>
)

function progressOf({ visit, checkout }: TakenView, attempt: Attempt): string {
  const texts = textsOf(visit)
  const method = methodName(attempt)
  const next = checkout.methods.find(one => one.payment_method === attempt.payment_method)?.next ?? 'prompt'
  if (next !== 'prompt' || attempt.state === 'needs_input') return fill(texts.paying, { method })
  return fill(attempt.state === 'pending' ? texts.asked : texts.asking, { method })
}

const methodName = ({ payment_method }: Pick<Attempt, 'payment_method'>) => paymentMethodName(payment_method)

const TimeLeft = ({ visit, checkout, attempt }: TakenView & { attempt: Attempt | undefined }) => {
  const ends = (attempt && checkout.requestEndsAt) ?? checkout.expires_at
  const seconds = secondsUntil(ends, visit.now)
  if (seconds === 0) return null
  const from = attempt && checkout.requestEndsAt ? attempt.created_at : checkout.created_at
  return (
    <div class="time" data-ends={seconds}>
      <label for="left">{textsOf(visit).timeLeft}</label>
      <b class="num left">{spanOf(seconds)}</b>
      <progress id="left" max={secondsUntil(ends, from)} value={seconds}>
        {spanOf(seconds)}
      </progress>
    </div>
  )
}

const spanOf = (seconds: number) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`

// What the provider said, and that nothing was taken.
const Failed = ({ visit, checkout }: TakenView) => {
  const texts = textsOf(visit)
  const reason = checkout.attempts.at(-1)?.reason ?? 'refused'
  const mayHaveTaken = reason === 'given_up' || reason === 'reversed'
  return (
    <div class="notice bad" role="status">
      <Icon name="stop" />
      <div>
        <b>{languages[visit.lang].reasons[reason].title}</b>
        <p>
          {!mayHaveTaken && `${texts.nothingTaken} `}
          {texts.again}
        </p>
      </div>
    </div>
  )
}

const AskedNotice = ({ visit, asked }: TakenView) => {
  if (asked === undefined || asked === 'asked') return null
  const texts = textsOf(visit)
  const reason = asked === 'refused' ? texts.notAskedNow : texts.notAskedMethod
  return (
    <div class="notice" role="status">
      <Icon name="alert" />
      <p>{fill(texts.notAsked, { reason })}</p>
    </div>
  )
}

const Code = ({ visit, link, isAsked }: TakenView & { isAsked: boolean }) => {
  const texts = textsOf(visit)
  return (
    <section class="card scan">
      <h2>{isAsked ? texts.orScan : texts.scan}</h2>
      <Qr text={link} title={texts.code} />
      <div class="linkbox">
        <a href={link} rel="noreferrer">
          {link.replace(/^https?:\/\//, '')}
        </a>
        <button type="button" class="btn plain small" data-copy={link} data-copied={texts.copied} hidden>
          <CounterIcon name="copy" />
          <span>{texts.copy}</span>
        </button>
      </div>
    </section>
  )
}

// Without scripts the link opens a new SMS. With scripts it opens the menu of the phone, if the browser has one.
const ShareLink = ({ visit, checkout, link }: TakenView) => {
  const texts = textsOf(visit)
  const amount = moneyFor(visit, checkout.total, checkout.currency)
  const text = fill(texts.shareText, { amount, merchant: visit.merchant.name, link })
  return (
    <a class="btn plain" href={`sms:?&body=${encodeURIComponent(text)}`} data-share={link} data-text={text}>
      <CounterIcon name="share" />
      {texts.share}
    </a>
  )
}

const AskButton = (view: TakenView) => {
  const texts = textsOf(view.visit)
  const { attempts } = view.checkout
  return (
    <CounterForm {...view} path="/ask">
      <input type="hidden" name="number" value={attempts.length + 1} />
      <button type="submit" class="btn plain wide">
        <CounterIcon name="again" />
        {attempts.length > 0 ? texts.askAgain : texts.askPhone}
      </button>
    </CounterForm>
  )
}

const CancelForm = (view: TakenView) => (
  <CounterForm {...view} path="/cancel" kind="last">
    <button type="submit" class="btn quiet wide">
      {textsOf(view.visit).cancel}
    </button>
  </CounterForm>
)

type CounterFormProps = TakenView & { path: string; kind?: string; children?: Child }

const CounterForm = ({ path, kind, children, ...view }: CounterFormProps) => (
  <form method="post" action={`${pathOf(view)}${path}`} class={kind}>
    <FormToken token={view.visit.formToken} />
    {children}
  </form>
)

const EndedPage = (view: TakenView) => {
  const { visit, checkout } = view
  const texts = textsOf(visit)
  const isOpen = checkout.attempts.some(isUnresolved)
  const { title, text } = texts.over[endOf(checkout, isOpen)]
  return (
    <CounterPage visit={visit} title={title} head={isOpen ? reload : undefined}>
      <Back visit={visit} />
      <SumRow {...view} />
      <div class="notice" role="status">
        <Icon name="stop" />
        <div>
          <h1>{title}</h1>
          <p>{text}</p>
        </div>
      </div>
      <NewPayment {...view} />
      {isOpen && <Follow {...view} />}
    </CounterPage>
  )
}

function endOf({ stage }: Checkout, isOpen: boolean) {
  if (stage === 'cancelled' && isOpen) return 'cancelling'
  return stage === 'expired' || stage === 'closed' || stage === 'disputed' || stage === 'cancelled'
    ? stage
    : 'over'
}

const PaidPage = (view: TakenView) => {
  const { visit, checkout, link, timeZone, receiptTo } = view
  const texts = textsOf(visit)
  const amount = moneyFor(visit, checkout.total, checkout.currency)
  const at = checkout.payment_time ?? checkout.updated_at
  const facts: [string, string | null][] = [
    [texts.for, subjectOf(checkout) || null],
    [texts.paidWith, paidWith(checkout)],
    [texts.invoice, checkout.invoice_id],
    [texts.reference, checkout.tx_reference],
    [texts.receipt, receiptTo.length > 0 ? receiptTo.join(', ') : null],
  ]
  return (
    <CounterPage visit={visit} title={`${texts.paid} ${amount}`}>
      <Back visit={visit} />
      <section class="card paid-card" aria-live="polite">
        <span class="tick">
          <CounterIcon name="check" />
        </span>
        <p class="word">{texts.paid}</p>
        <h1>{amount}</h1>
        <p class="muted num">
          {fill(texts.after, {
            time: clockTime(at, timeZone, true),
            span: durationOf(secondsUntil(at, checkout.created_at)),
          })}
        </p>
      </section>
      <section class="card">
        <dl class="facts">
          {facts.map(
            ([name, value]) =>
              value && (
                <>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </>
              ),
          )}
        </dl>
      </section>
      <a class="btn plain wide" href={`${link}/receipt`} rel="noreferrer">
        <CounterIcon name="print" />
        {texts.print}
      </a>
      <Shift {...view} />
      <NewPayment {...view} />
    </CounterPage>
  )
}

const paidWith = ({ payment_method, payment_instrument }: Checkout) =>
  [payment_method && paymentMethodName(payment_method), payment_instrument].filter(Boolean).join(', ') || null

const durationOf = (seconds: number) => (seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`)

const Shift = ({ visit, day }: TakenView) =>
  day ? (
    <p class="shift">
      <span>{day.outlet ? fill(textsOf(visit).todayAt, { outlet: day.outlet }) : textsOf(visit).today}</span>
      <span>{paidSentence(visit, day)}</span>
    </p>
  ) : null

const NewPayment = ({ visit }: TakenView) => (
  <a class="btn big wide" href={`${visit.base}/take`}>
    <CounterIcon name="plus" />
    {textsOf(visit).newPayment}
  </a>
)
