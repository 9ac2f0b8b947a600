import { fill } from '../core/text.ts'
import type { Charge } from '../store/sandboxCharges.ts'
import { type CardErrors, type CardField, cardFields, type CardForm, testCards } from './cards.ts'
import type { ChargeState } from './charge.ts'
import { FormToken, Icon, Sentence } from '../core/markup/page.tsx'
import { chargeMoney, linkIn, type PageLanguage, SandboxPage, StatementPage } from './page.tsx'

type ChargeProps = { charge: Charge; language: PageLanguage }
type FormProps = ChargeProps & { token: string }
type CardPageProps = FormProps & { form?: CardForm; errors?: CardErrors }

export const CardPage = ({ charge, language, token, form, errors = {} }: CardPageProps) => {
  const { card: t, card_faults: faultTexts } = language.t.sandbox
  const faults = cardFields.filter(field => errors[field])
  const errorText = (field: CardField) => errors[field] && faultTexts[errors[field]]
  const input = (field: CardField) => ({ name: field, label: t[field], error: errorText(field) })
  const title = `${charge.payee}, ${chargeMoney(charge, language)}`
  return (
    <SandboxPage language={language} title={faults.length > 0 ? fill(t.in_title, { title }) : title}>
      <div class="sum">
        <h1>
          <Sentence
            text={t.pay}
            shop={<bdi>{charge.payee}</bdi>}
            amount={<span class="amount">{chargeMoney(charge, language)}</span>}
          />
        </h1>
        {charge.note && (
          <p class="muted">
            <bdi>{charge.note}</bdi>
          </p>
        )}
      </div>
      <CardFaults title={t.check} faults={faults.map(field => [field, errorText(field)] as const)} />
      <form
        class="card roomy"
        method="post"
        action={linkIn(language, `/sandbox/card/${charge.reference}`)}
        novalidate
      >
        <FormToken token={token} />
        <p class="pill wait">
          <Icon name="alert" />
          {t.test}
        </p>
        {/* The number and the CVV are never echoed. */}
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
        <button type="submit" class="btn wide">
          {fill(t.button, { amount: chargeMoney(charge, language) })}
        </button>
      </form>
      <TestCards language={language} open={Boolean(errors.number)} />
      <Cancel charge={charge} language={language} token={token} />
    </SandboxPage>
  )
}

type CardFaultsProps = { title: string; faults: readonly (readonly [CardField, string | undefined])[] }

const CardFaults = ({ title, faults }: CardFaultsProps) =>
  faults.length === 0 ? null : (
    <section class="notice bad" role="alert">
      <Icon name="stop" />
      <div>
        <h2>{title}</h2>
        <ul class="faults">
          {faults.map(([field, text]) => (
            <li>
              <a href={`#${field}`}>{text}</a>
            </li>
          ))}
        </ul>
      </div>
    </section>
  )

const TestCards = ({ language: { t }, open }: { language: PageLanguage; open: boolean }) => (
  <details class="card" open={open}>
    <summary>{t.sandbox.test_cards}</summary>
    <p class="muted">{t.sandbox.test_cards_text}</p>
    <dl class="test-cards">
      {testCards.map(({ number, ending }) => (
        <div>
          <dt>{number.replace(/(.{4})(?=.)/g, '$1 ')}</dt>
          <dd>{t.sandbox.by_card[ending]}</dd>
        </div>
      ))}
    </dl>
  </details>
)

// A form and not a link, so that a link prefetch cannot cancel.
const Cancel = ({ charge, language, token }: FormProps) => (
  <form class="centre" method="post" action={linkIn(language, `/sandbox/card/${charge.reference}/cancel`)}>
    <FormToken token={token} />
    <button type="submit" class="btn quiet">
      {language.t.sandbox.card.cancel}
    </button>
  </form>
)

export const ClosedChargePage = ({ charge, language, state }: ChargeProps & { state: ChargeState }) => (
  <StatementPage language={language} title={closedTitle(state, language)} back={charge.return_url}>
    <p>
      <Sentence
        text={language.t.sandbox.asked}
        shop={<bdi>{charge.payee}</bdi>}
        amount={chargeMoney(charge, language)}
      />{' '}
      {language.t.sandbox.card.used}
    </p>
  </StatementPage>
)

function closedTitle({ status, reason, pollError }: ChargeState, { t: { sandbox } }: PageLanguage): string {
  if (pollError) return sandbox.card.at_bank
  if (status === 'SUCCESSFUL') return sandbox.card.paid
  if (reason === 'WITHDRAWN') return sandbox.endings.withdrawn
  return reason === 'EXPIRED' ? sandbox.endings.too_late : sandbox.endings.not_paid
}

// Simulates the page of the customer's bank. `isMissing`: the form was submitted without a code.
export const SecurePage = ({ charge, language, token, isMissing }: FormProps & { isMissing?: boolean }) => {
  const { secure: t } = language.t.sandbox
  const amount = chargeMoney(charge, language)
  const title = fill(t.page, { amount })
  return (
    <SandboxPage language={language} title={isMissing ? fill(t.in_title, { title }) : title}>
      <form
        class="card roomy"
        method="post"
        action={linkIn(language, `/sandbox/card/${charge.reference}/3ds`)}
        novalidate
      >
        <FormToken token={token} />
        <h1>{t.title}</h1>
        <p>
          <Sentence
            text={t.text}
            shop={<bdi>{charge.payee}</bdi>}
            amount={amount}
            card={`${charge.card_type} •••• ${charge.card_last4}`}
          />
        </p>
        <p class="pill wait">
          <Icon name="alert" />
          {t.nothing_sent}
        </p>
        <CardInput
          name="code"
          label={t.code}
          inputmode="numeric"
          autocomplete="one-time-code"
          maxlength={12}
          required
          error={isMissing ? t.missing : undefined}
          isAlone
        />
        <button type="submit" class="btn wide">
          {t.confirm}
        </button>
      </form>
      <Cancel charge={charge} language={language} token={token} />
    </SandboxPage>
  )
}

type CardInputProps = {
  name: string
  label: string
  autocomplete: string
  maxlength: number
  inputmode?: 'numeric'
  required?: boolean
  value?: string
  error?: string
  isAlone?: boolean // there is no summary of faults above
}

// A field with its label and its fault.
const CardInput = ({ name, label, error, isAlone, ...rest }: CardInputProps) => (
  <div class="field">
    <label for={name}>{label}</label>
    <input
      class="input"
      id={name}
      name={name}
      type="text"
      {...rest}
      {...(error && { 'aria-invalid': 'true', 'aria-describedby': `${name}-error` })}
    />
    {error && (
      <p class="fault" id={`${name}-error`} {...(isAlone && { role: 'alert' })}>
        {error}
      </p>
    )}
  </div>
)
