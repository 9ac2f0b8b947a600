import type { Texts } from '../../../core/languages/en.ts'
import { cachedFragment } from '../../../core/markup/fragmentCache.ts'
import { FormToken, Icon } from '../../../core/markup/page.tsx'
import { fill } from '../../../core/text.ts'
import { PaymentPage } from '../paymentPage.tsx'
import { amountOf, linkTo, resourceOf, type View } from '../view.ts'
import { type Form, onFileField } from './form.ts'
import { OldRequestEnded } from './giveUp.tsx'
import { Faults, MethodRow } from './methodForm.tsx'
import { TestEndings, TestTables } from './testEndings.tsx'

const pollSeconds = 10
const formName = 'pay'

type ChooseProps = { view: View; form: Form; again?: string }

// The form to choose a payment method.
export const ChoosePage = ({ view, form, again }: ChooseProps) => {
  const { checkout, t } = view
  const pay = fill(t.choose.title, { amount: amountOf(view) })
  const hasFaults = form.faults.length > 0
  const lasting = form.faults.find(fault => fault.lasting)
  const title = hasFaults ? `${lasting ? t.failed.title : t.faults.in_title} · ${pay}` : pay
  // The page polls, because the payment may be paid on another device or late. A form that is shown again is the answer
  // to a POST, which must not be reloaded.
  const poll = hasFaults ? undefined : pollSeconds
  const unchosen = lasting ? undefined : form.faults.find(({ field }) => field === '')
  return (
    <PaymentPage
      view={view}
      title={title}
      head
      onPhone={<OnPhone view={view} />}
      query={again ? { again } : {}}
      poll={poll}
      form={formName}
    >
      {lasting ? (
        <section class="notice bad" role="alert" tabindex={-1} id="faults">
          <Icon name="stop" />
          <p>
            <strong>{lasting.text}</strong>
          </p>
        </section>
      ) : (
        hasFaults && <Faults view={view} faults={form.faults} first={checkout.methods[0]?.payment_method} />
      )}
      {!hasFaults && <OldRequestEnded view={view} />}
      <NoneAvailable view={view} />
      <form method="post" id={formName} action={linkTo(view, '/pay')} novalidate {...scriptTexts(view)}>
        <FormToken token={view.formToken} />
        <input type="hidden" name="number" value={checkout.attempts.length + 1} />
        {form.onFile && <input type="hidden" name={onFileField} value={form.onFile.from} />}
        <fieldset aria-describedby={unchosen && 'methods-fault'}>
          <legend>{t.choose.how}</legend>
          {unchosen && (
            <p class="fault" id="methods-fault">
              {unchosen.text}
            </p>
          )}
          <div class="methods">
            {checkout.methods.map(method => (
              <MethodRow view={view} method={method} form={form} />
            ))}
          </div>
        </fieldset>
        {checkout.seconds > 0 && (
          <p class="muted" data-count={checkout.seconds}>
            {fill(t.choose.again_in, { seconds: checkout.seconds })}
          </p>
        )}
        <button type="submit" class="btn wide big">
          {fill(t.choose.pay, { amount: amountOf(view) })}
        </button>
      </form>
      <p>
        <a class="btn quiet wide" href={linkTo(view, '/cancel')}>
          {t.choose.cancel}
        </a>
      </p>
      <TestEndings view={view} />
      <TestTables view={view} />
    </PaymentPage>
  )
}

// Shown if no payment method is available. The page does not reload when one becomes available, because availability
// flips while a provider is probed.
const NoneAvailable = ({ view }: { view: View }) => {
  const { checkout, t } = view
  const isShut = checkout.methods.every(({ payment_method }) => checkout.shut?.includes(payment_method))
  return isShut ? (
    <p class="note warn">
      {t.choose.none_available} <a href={linkTo(view)}>{t.wait.check_again}</a>
    </p>
  ) : null
}

const scriptTexts = ({ t: { choose, frame } }: View) => ({
  'data-same': choose.guess_same,
  'data-other': choose.guess_other,
  'data-switch': choose.guess_switch,
  'data-busy': frame.one_moment,
})

// Shown on a wide screen: the wallet, the camera and the bank's app are on the phone. The code is a separate picture, so
// that a phone, which hides it, does not load it.
const OnPhone = ({ view }: { view: View }) => onPhone(view.t, {}, { picture: resourceOf(view, '/qr.svg') })

const onPhone = cachedFragment(({ choose }: Texts, _: Record<string, never>, gap) => (
  <section class="on-phone">
    <img src={gap('picture')} alt="" loading="lazy" />
    <div>
      <h2>{choose.phone_title}</h2>
      <p class="muted">{choose.phone_text}</p>
    </div>
  </section>
))
