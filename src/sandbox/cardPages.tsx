import type { Charge } from '../store/sandboxCharges.ts'
import { CardInput } from './cardInput.tsx'
import { type CardErrors, type CardField, type CardForm, cardFields, testCards } from './cards.ts'
import type { State } from './charge.ts'
import { money, Notice, Page } from './page.tsx'

const labels: Record<CardField, string> = {
  number: 'Card number',
  expiry: 'Expiry date, MM/YY',
  cvv: 'CVV',
  name: 'Name on the card (optional)',
}

type CardPageProps = { charge: Charge; form?: CardForm; errors?: CardErrors }

export const CardPage = ({ charge, form, errors = {} }: CardPageProps) => {
  const faults = cardFields.filter(field => errors[field])
  const input = (field: CardField) => ({ name: field, label: labels[field], error: errors[field] })
  return (
    <Page title={`${faults.length > 0 ? 'Check the card: ' : ''}${charge.payee}, ${money(charge)}`}>
      <section class="card">
        <h1>
          Pay <bdi>{charge.payee}</bdi> <span class="amount">{money(charge)}</span>
        </h1>
        {charge.note && (
          <p class="muted">
            <bdi>{charge.note}</bdi>
          </p>
        )}
      </section>
      {faults.length > 0 && (
        <section class="card bad" role="alert">
          <h2>Check the card</h2>
          <ul>
            {faults.map(field => (
              <li>
                <a href={`#${field}`}>{errors[field]}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <form class="card" method="post" action={`/sandbox/card/${charge.reference}`} novalidate>
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
        <button type="submit">Pay {money(charge)}</button>
      </form>
      <TestCards open={Boolean(errors.number)} />
      <Cancel charge={charge} />
    </Page>
  )
}

const TestCards = ({ open }: { open: boolean }) => (
  <details class="card" open={open}>
    <summary>Test cards</summary>
    <p class="muted">
      Any date to come, CVV 123. Another CVV is refused with 82. Never type a real card here.
    </p>
    <dl class="stacked">
      {testCards.map(({ number, words }) => (
        <>
          <dt>{number.replace(/(.{4})(?=.)/g, '$1 ')}</dt>
          <dd>{words}</dd>
        </>
      ))}
    </dl>
  </details>
)

// A form and not a link: what looks ahead at links must not cancel.
export const Cancel = ({ charge }: { charge: Charge }) => (
  <form class="centre" method="post" action={`/sandbox/card/${charge.reference}/cancel`}>
    <button type="submit" class="quiet">
      Cancel and go back
    </button>
  </form>
)

export const OverPage = ({ charge, state }: { charge: Charge; state: State }) => (
  <Notice title={overTitle(state)} back={charge.return_url}>
    <p>
      <bdi>{charge.payee}</bdi> asked for {money(charge)}. This page was used already, or its time is over.
      The checkout knows how it ended.
    </p>
  </Notice>
)

function overTitle({ status, reason, blind }: State) {
  if (blind) return 'Sent to the bank'
  if (status === 'SUCCESSFUL') return 'Paid'
  if (reason === 'WITHDRAWN') return 'Withdrawn'
  return reason === 'EXPIRED' ? 'Too late' : 'Not paid'
}
