import { fill } from '../core/text.ts'
import type { Charge } from '../store/sandboxCharges.ts'
import { CardInput } from './cardInput.tsx'
import { type CardErrors, type CardField, type CardForm, cardFields, testCards } from './cards.ts'
import type { State } from './charge.ts'
import { FormToken, linkIn, money, Notice, Page, Say, type Speech } from './page.tsx'

type ChargeProps = { charge: Charge; speech: Speech }
type FormProps = ChargeProps & { token: string }
type CardPageProps = FormProps & { form?: CardForm; errors?: CardErrors }

export const CardPage = ({ charge, speech, token, form, errors = {} }: CardPageProps) => {
  const { card: t, card_faults: words } = speech.t.sandbox
  const faults = cardFields.filter(field => errors[field])
  const wordsOf = (field: CardField) => errors[field] && words[errors[field]]
  const input = (field: CardField) => ({ name: field, label: t[field], error: wordsOf(field) })
  const title = `${charge.payee}, ${money(charge, speech)}`
  return (
    <Page speech={speech} title={faults.length > 0 ? fill(t.in_title, { title }) : title}>
      <section class="card">
        <h1>
          <Say
            text={t.pay}
            shop={<bdi>{charge.payee}</bdi>}
            amount={<span class="amount">{money(charge, speech)}</span>}
          />
        </h1>
        {charge.note && (
          <p class="muted">
            <bdi>{charge.note}</bdi>
          </p>
        )}
      </section>
      {faults.length > 0 && (
        <section class="card bad" role="alert">
          <h2>{t.check}</h2>
          <ul>
            {faults.map(field => (
              <li>
                <a href={`#${field}`}>{wordsOf(field)}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <form
        class="card"
        method="post"
        action={linkIn(speech, `/sandbox/card/${charge.reference}`)}
        novalidate
      >
        <FormToken token={token} />
        {/* The number and the CVV are not written back: a page keeps no card. */}
        <CardInput
          {...input('number')}
          autocomplete="cc-number"
          inputmode="numeric"
          maxlength={30}
          required
        />
        <div class="pair">
          <CardInput
            {...input('expiry')}
            autocomplete="cc-exp"
            inputmode="numeric"
            maxlength={9}
            required
            value={form?.expiry}
          />
          <CardInput {...input('cvv')} autocomplete="cc-csc" inputmode="numeric" maxlength={4} required />
        </div>
        <CardInput {...input('name')} autocomplete="cc-name" maxlength={100} value={form?.name} />
        <button type="submit">{fill(t.button, { amount: money(charge, speech) })}</button>
      </form>
      <TestCards speech={speech} open={Boolean(errors.number)} />
      <Cancel charge={charge} speech={speech} token={token} />
    </Page>
  )
}

const TestCards = ({ speech: { t }, open }: { speech: Speech; open: boolean }) => (
  <details class="card" open={open}>
    <summary>{t.sandbox.test_cards}</summary>
    <p class="muted">{t.sandbox.test_cards_words}</p>
    <dl class="stacked">
      {testCards.map(({ number, ending }) => (
        <>
          <dt>{number.replace(/(.{4})(?=.)/g, '$1 ')}</dt>
          <dd>{t.sandbox.by_card[ending]}</dd>
        </>
      ))}
    </dl>
  </details>
)

// A form and not a link: what looks ahead at links must not cancel.
export const Cancel = ({ charge, speech, token }: FormProps) => (
  <form class="centre" method="post" action={linkIn(speech, `/sandbox/card/${charge.reference}/cancel`)}>
    <FormToken token={token} />
    <button type="submit" class="quiet">
      {speech.t.sandbox.card.cancel}
    </button>
  </form>
)

export const OverPage = ({ charge, speech, state }: ChargeProps & { state: State }) => (
  <Notice speech={speech} title={overTitle(state, speech)} back={charge.return_url}>
    <p>
      <Say text={speech.t.sandbox.asked} shop={<bdi>{charge.payee}</bdi>} amount={money(charge, speech)} />{' '}
      {speech.t.sandbox.card.used}
    </p>
  </Notice>
)

function overTitle({ status, reason, blind }: State, { t: { sandbox } }: Speech): string {
  if (blind) return sandbox.card.at_bank
  if (status === 'SUCCESSFUL') return sandbox.card.paid
  if (reason === 'WITHDRAWN') return sandbox.endings.withdrawn
  return reason === 'EXPIRED' ? sandbox.endings.too_late : sandbox.endings.not_paid
}
