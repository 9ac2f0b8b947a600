import type { Child, PropsWithChildren } from '../core/markup/jsx-runtime.ts'
import { Sentence } from '../core/markup/page.tsx'
import { fill } from '../core/text.ts'
import { defaultCurrency, formatMoney } from '../core/money.ts'
import type { Charge } from '../store/sandboxCharges.ts'
import type { ChargeState } from './charge.ts'
import { BackToCheckout, chargeMoney, linkIn, type PageLanguage, SandboxPage } from './page.tsx'
import { refundEndingsByAmount } from './refund.ts'
import { ChargeFacts, ConfirmationSms, Phone, UssdPrompt } from './phoneScreen.tsx'

type ChargeProps = { language: PageLanguage; charge: Charge; now: Date }

const promptAddress = (language: PageLanguage, { reference }: Charge) =>
  linkIn(language, `/sandbox/phone/${reference}`)

type PhoneFrameProps = PropsWithChildren<{
  language: PageLanguage
  title: string
  heading: Child
  phone: Child
}>

// Beside the phone is what a tester needs to know. In a frame there is only the phone.
const PhoneFrame = ({ language, title, heading, phone, children }: PhoneFrameProps) => (
  <SandboxPage language={language} title={title} current="phone" class="bench">
    {language.framed ? (
      <h1 class="sr">{heading}</h1>
    ) : (
      <div class="beside">
        <h1>{heading}</h1>
        {children}
      </div>
    )}
    {phone}
  </SandboxPage>
)

type PhonePageProps = {
  language: PageLanguage
  now: Date
  input?: string
  isWrong: boolean
  listsAll: boolean // without a number the prompts of all numbers are listed
  prompts?: readonly Charge[]
  tokenOf(reference: string): string
}

// Finds the prompts of a number. The phone shows the newest one.
export const PhonePage = (props: PhonePageProps) => {
  const { language, now, input, isWrong, listsAll, prompts, tokenOf } = props
  const { phone: t } = language.t.sandbox
  const newest = prompts?.[0]
  const phone = (
    <Phone now={now} method={newest?.method} language={language}>
      {newest ? (
        <UssdPrompt
          charge={newest}
          language={language}
          address={promptAddress(language, newest)}
          token={tokenOf(newest.reference)}
        />
      ) : (
        <p class="idle">{t.idle}</p>
      )}
    </Phone>
  )
  return (
    <PhoneFrame language={language} title={isWrong ? t.in_title : t.title} heading={t.title} phone={phone}>
      <p class="muted">{listsAll ? t.all_text : t.text}</p>
      <NumberForm language={language} input={input} isWrong={isWrong} />
      {prompts && (
        <Prompts language={language} prompts={prompts} none={input === undefined ? t.none_at_all : t.none} />
      )}
      <TestRefunds language={language} />
    </PhoneFrame>
  )
}

const TestRefunds = ({ language: { t } }: { language: PageLanguage }) => (
  <details class="card">
    <summary>{t.sandbox.test_refunds}</summary>
    <p class="muted">{t.sandbox.test_refunds_text}</p>
    <dl class="test-cards">
      {Object.entries(refundEndingsByAmount).map(([amount, ending]) => (
        <div>
          <dt>{formatMoney(BigInt(amount), defaultCurrency)}</dt>
          <dd>{t.sandbox.by_refund[ending]}</dd>
        </div>
      ))}
    </dl>
  </details>
)

type NumberFormProps = { language: PageLanguage; input?: string; isWrong: boolean }

const NumberForm = ({ language, input, isWrong }: NumberFormProps) => {
  const { phone: t } = language.t.sandbox
  return (
    <form class="card" method="get" action="/sandbox/phone">
      {language.inUrl && <input type="hidden" name="lang" value={language.inUrl} />}
      <div class="field">
        <label for="number">{t.number}</label>
        <input
          class="input"
          id="number"
          name="number"
          type="tel"
          inputmode="tel"
          autocomplete="off"
          maxlength={30}
          required
          value={input ?? ''}
          {...(isWrong && { 'aria-invalid': 'true', 'aria-describedby': 'number-error' })}
        />
        {isWrong && (
          <p class="fault" id="number-error" role="alert">
            {t.wrong}
          </p>
        )}
      </div>
      <button type="submit" class="btn plain wide">
        {t.show}
      </button>
    </form>
  )
}

type PromptsProps = { language: PageLanguage; prompts: readonly Charge[]; none: string }

const Prompts = ({ language, prompts, none }: PromptsProps) => {
  const { phone: t } = language.t.sandbox
  return (
    <section class="card" role="status">
      <h2>{prompts.length === 0 ? none : t.waiting}</h2>
      {prompts.length === 0 ? (
        <p class="muted">{t.none_text}</p>
      ) : (
        <ul class="rows">
          {prompts.map(charge => (
            <li>
              <a href={promptAddress(language, charge)}>
                <bdi>{charge.payee}</bdi> <strong>{chargeMoney(charge, language)}</strong>
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

export const PromptPage = (props: ChargeProps & { token: string; isPinMissing: boolean }) => {
  const { charge, language, now, token, isPinMissing } = props
  const { prompt: t } = language.t.sandbox
  const amount = chargeMoney(charge, language)
  const title = fill(t.asks, { shop: charge.payee, amount })
  const address = promptAddress(language, charge)
  return (
    <PhoneFrame
      language={language}
      title={isPinMissing ? fill(t.in_title, { title }) : title}
      heading={
        <Sentence
          text={t.asks}
          shop={<bdi>{charge.payee}</bdi>}
          amount={<span class="nowrap">{amount}</span>}
        />
      }
      phone={
        <Phone now={now} method={charge.method} language={language}>
          <UssdPrompt
            charge={charge}
            language={language}
            address={address}
            token={token}
            isPinMissing={isPinMissing}
          />
        </Phone>
      }
    >
      <div class="card">
        <ChargeFacts charge={charge} language={language} />
      </div>
    </PhoneFrame>
  )
}

// The request waits for no tester: it was answered, has expired or is answered automatically.
export const AnsweredPage = (props: ChargeProps & { state: ChargeState; transaction?: string }) => {
  const { charge, language, now, state, transaction } = props
  const { status, reason = '' } = state
  const { asked, endings: t, prompt } = language.t.sandbox
  const ending = endings[status === 'FAILED' ? reason : status] ?? 'not_paid'
  const shop = <bdi>{charge.payee}</bdi>
  const amount = chargeMoney(charge, language)
  const request = <Sentence text={asked} shop={shop} amount={amount} />
  const paid = <Sentence text={prompt.paid} shop={shop} amount={amount} id={transaction ?? ''} />
  return (
    <PhoneFrame
      language={language}
      title={t[ending]}
      heading={t[ending]}
      phone={
        <Phone now={now} method={charge.method} language={language}>
          <ConfirmationSms method={charge.method} now={charge.decided_at ?? now}>
            {status === 'SUCCESSFUL' ? paid : request} {t[`${ending}_text`]}
          </ConfirmationSms>
        </Phone>
      }
    >
      <p class="muted">
        {request} {t[`${ending}_text`]}
      </p>
      <div class="card">
        <ChargeFacts charge={charge} language={language} />
        <BackToCheckout language={language} address={charge.return_url} />
      </div>
    </PhoneFrame>
  )
}

// By the status or reason of the simulated provider.
const endings: Record<string, 'pending' | 'approved' | 'declined' | 'withdrawn' | 'too_late'> = {
  PENDING: 'pending',
  SUCCESSFUL: 'approved',
  APPROVAL_REJECTED: 'declined',
  WITHDRAWN: 'withdrawn',
  EXPIRED: 'too_late',
}
