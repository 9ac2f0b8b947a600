import { type Attempt, isUnresolved } from '../../../core/payment/attempt.ts'
import { FormToken, NoticeCard, Sentence } from '../../../core/markup/page.tsx'
import { fill } from '../../../core/text.ts'
import { cancelledExit, deferredExit, ShopLink, RedirectNotice } from '../exit.tsx'
import { PaymentPage } from '../paymentPage.tsx'
import { linkTo, type View } from '../view.ts'

// The pages of the stages without a request to wait for: failed, cancelled, expired, closed and disputed.

const pollSeconds = 5 // short, so that a late payment shows before the customer pays again
const refreshSeconds = 10 // without scripts: rarely, because a reload interrupts a screen reader
const disputedPollSeconds = 10

// With these reasons the money was taken and is returned, or it is unknown whether it was taken.
const mayHaveTaken = new Set<string | null | undefined>(['given_up', 'reversed'])

// The attempt has failed.
export const FailedPage = ({ view, attempt }: { view: View; attempt: Attempt | undefined }) => {
  const { checkout, t } = view
  const reason = t.reasons[attempt?.reason ?? 'refused']
  const over = checkout.stage === 'over'
  const exit = cancelledExit(checkout)
  const refresh = attempt?.next_poll_at ? refreshSeconds : undefined // the failed attempt is still polled
  return (
    <PaymentPage view={view} title={t.failed.title} poll={pollSeconds} refresh={refresh}>
      <NoticeCard title={reason.title} tone="bad">
        <p>
          {!mayHaveTaken.has(attempt?.reason) && `${t.failed.nothing_taken} `}
          {over ? <ShopSentence view={view} text={t.failed.over} /> : reason.advice}
        </p>
      </NoticeCard>
      {!over && <TryAgain view={view} />}
      <ShopLink view={view} exit={exit} text={t.failed.leave} button={over} />
      {over ? (
        <AskShop view={view} />
      ) : (
        <p>
          <a class="btn quiet wide" href={linkTo(view, '/cancel')}>
            {t.choose.cancel}
          </a>
        </p>
      )}
    </PaymentPage>
  )
}

const TryAgain = ({ view }: { view: View }) => (
  <>
    {view.checkout.seconds > 0 && (
      <p class="muted" data-count={view.checkout.seconds}>
        {fill(view.t.choose.again_in, { seconds: view.checkout.seconds })}
      </p>
    )}
    <p>
      <a class="btn wide big" href={linkTo(view, '', { again: 'same' })}>
        {view.t.failed.again}
      </a>
    </p>
    <p>
      <a class="btn plain wide" href={linkTo(view, '', { again: 'other' })}>
        {view.t.failed.other}
      </a>
    </p>
  </>
)

// Asks whether the customer really wants to cancel.
export const CancelPage = ({ view }: { view: View }) => {
  const { checkout, t } = view
  const text = checkout.attempts.some(isUnresolved) ? t.cancel.unresolved : t.cancel.text
  return (
    <PaymentPage view={view} title={t.cancel.title} path="/cancel">
      <NoticeCard title={t.cancel.title}>
        <p>
          <ShopSentence view={view} text={text} />
        </p>
      </NoticeCard>
      <form method="post" action={linkTo(view, '/cancel')} data-busy={t.frame.one_moment}>
        <FormToken token={view.formToken} />
        <button type="submit" class="btn danger wide">
          {t.cancel.yes}
        </button>
      </form>
      <p>
        <a class="btn plain wide" href={linkTo(view)}>
          {t.cancel.no}
        </a>
      </p>
    </PaymentPage>
  )
}

export const CancelledPage = ({ view }: { view: View }) => {
  const { checkout, t } = view
  const exit = cancelledExit(checkout)
  const unresolved = checkout.attempts.some(isUnresolved)
  const text = unresolved ? t.cancelled.requested : t.cancelled.text
  const poll = unresolved ? pollSeconds : undefined
  return (
    <PaymentPage view={view} title={t.cancelled.title} exit={exit} poll={poll}>
      <NoticeCard title={t.cancelled.title}>
        <p>
          <ShopSentence view={view} text={text} />
        </p>
      </NoticeCard>
      <RedirectNotice view={view} exit={exit} />
      <ShopLink view={view} exit={exit} text={t.wait.back} button />
    </PaymentPage>
  )
}

type StoppedProps = { view: View; texts: { title: string; text: string } }

// The payment cannot be paid: it has expired, the shop is deactivated, or no payment method is set up.
export const StoppedPage = ({ view, texts }: StoppedProps) => (
  <PaymentPage view={view} title={texts.title}>
    <NoticeCard title={texts.title} tone="warn">
      <p>
        <ShopSentence view={view} text={texts.text} />
      </p>
    </NoticeCard>
    <ShopLink view={view} exit={cancelledExit(view.checkout)} text={view.t.wait.back} button />
    <AskShop view={view} />
  </PaymentPage>
)

// The provider reported another amount. The page states neither that it is paid nor that nothing was taken.
export const DisputedPage = ({ view }: { view: View }) => {
  const { checkout, t } = view
  const reference = <strong class="whole">{checkout.tx_reference}</strong>
  return (
    <PaymentPage view={view} title={t.disputed.title} poll={disputedPollSeconds}>
      <NoticeCard title={t.disputed.title} tone="warn">
        <p>{t.disputed.text}</p>
        <p>
          <Sentence text={t.disputed.advice} reference={reference} />
        </p>
      </NoticeCard>
      <ShopLink view={view} exit={deferredExit(checkout)} text={t.wait.back} />
      <AskShop view={view} />
    </PaymentPage>
  )
}

// On a page that offers no next step: whom to ask, and what to say. The shop's contact is part of the frame.
const AskShop = ({ view: { checkout, t } }: { view: View }) => (
  <p class="after">
    <Sentence
      text={t.branding.ask}
      shop={<bdi>{checkout.merchant_name}</bdi>}
      reference={<span class="whole">{checkout.tx_reference}</span>}
    />
  </p>
)

const ShopSentence = ({ view, text }: { view: View; text: string }) => (
  <Sentence text={text} shop={<bdi>{view.checkout.merchant_name}</bdi>} />
)
