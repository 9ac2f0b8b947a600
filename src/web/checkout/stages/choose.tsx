import type { Texts } from '../../../core/languages/en.ts'
import { kept } from '../../../core/markup/kept.ts'
import { fill } from '../../../core/text.ts'
import { FormToken } from '../../http/formToken.tsx'
import { PaymentPage } from '../page/paymentPage.tsx'
import { amountOf, linkTo, partOf, type View } from '../page/view.ts'
import { Faults } from './faults.tsx'
import { type Form, onFileField } from './form.ts'
import { TestEndings } from './testEndings.tsx'
import { TestTables } from './testTables.tsx'
import { OldRequest } from './waitGivenUp.tsx'
import { WayRow } from './way.tsx'

const pollSeconds = 10
const formName = 'pay'

type ChooseProps = { view: View; form: Form; again?: string }

// How would you like to pay?
export const ChoosePage = ({ view, form, again }: ChooseProps) => {
  const { checkout, t } = view
  const asks = fill(t.choose.title, { amount: amountOf(view) })
  const lasting = form.faults.find(fault => fault.lasting)
  const wrong = lasting ? t.failed.title : t.faults.in_title
  const title = form.faults.length > 0 ? `${wrong} · ${asks}` : asks
  // Somebody may pay on another device, or the money may come late: then this form is out of date. One that came back
  // is the answer to a post, which is not reloaded behind anybody's back.
  const poll = form.faults.length > 0 ? undefined : pollSeconds
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
        <section class="card bad" role="alert" tabindex={-1} id="faults">
          <p>
            <strong>{lasting.words}</strong>
          </p>
        </section>
      ) : (
        form.faults.length > 0 && (
          <Faults view={view} faults={form.faults} first={checkout.offers[0]?.payment_method} />
        )
      )}
      {form.faults.length === 0 && <OldRequest view={view} />}
      <AllShut view={view} />
      <form method="post" id={formName} action={linkTo(view, '/pay')} novalidate {...scriptWords(view)}>
        <FormToken token={view.formToken} />
        <input type="hidden" name="number" value={checkout.attempts.length + 1} />
        {form.onFile && <input type="hidden" name={onFileField} value={form.onFile.from} />}
        <fieldset aria-describedby={unchosen && 'ways-fault'}>
          <legend>{t.choose.how}</legend>
          {unchosen && (
            <p class="fault" id="ways-fault">
              {unchosen.words}
            </p>
          )}
          <div class="ways">
            {checkout.offers.map(way => (
              <WayRow view={view} way={way} form={form} />
            ))}
          </div>
        </fieldset>
        {checkout.seconds > 0 && (
          <p class="muted" data-count={checkout.seconds}>
            {fill(t.choose.again_in, { seconds: checkout.seconds })}
          </p>
        )}
        <button type="submit">{fill(t.choose.pay, { amount: amountOf(view) })}</button>
      </form>
      <p class="quiet">
        <a href={linkTo(view, '/cancel')}>{t.choose.cancel}</a>
      </p>
      <TestEndings view={view} />
      <TestTables view={view} />
    </PaymentPage>
  )
}

// Nothing can be chosen. The page does not load itself anew for that: a provider that is being tried comes and goes.
const AllShut = ({ view }: { view: View }) => {
  const { checkout, t } = view
  const isShut = checkout.offers.every(({ payment_method }) => checkout.shut?.includes(payment_method))
  return isShut ? (
    <p class="note warn">
      {t.choose.all_shut} <a href={linkTo(view)}>{t.wait.look}</a>
    </p>
  ) : null
}

const scriptWords = ({ t: { choose, frame } }: View) => ({
  'data-same': choose.guess_same,
  'data-other': choose.guess_other,
  'data-switch': choose.guess_switch,
  'data-busy': frame.one_moment,
})

// On a wide screen: the wallet, the camera and the bank's app are on the phone. A picture of its own, so that a phone,
// which does not show it, does not load it either.
const OnPhone = ({ view }: { view: View }) => onPhone(view.t, {}, { picture: partOf(view, '/qr.svg') })

const onPhone = kept(({ choose }: Texts, _: Record<string, never>, gap) => (
  <section class="on-phone">
    <img src={gap('picture')} alt="" loading="lazy" />
    <div>
      <h2>{choose.phone_title}</h2>
      <p class="muted">{choose.phone_words}</p>
    </div>
  </section>
))
