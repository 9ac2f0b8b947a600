import { maskPhone } from '../core/mask.ts'
import { fill } from '../core/text.ts'
import type { Charge } from '../store/sandboxCharges.ts'
import { stateAt, waitsForPerson } from './charge.ts'
import { FormToken, linkIn, money, Notice, Page, Say, type Speech } from './page.tsx'

const names: Record<string, string> = {
  mtn: 'MTN MoMo',
  telecel: 'Telecel Cash',
  at: 'AT Money',
  ghqr: 'GhQR',
}

type PhonePageProps = { speech: Speech; typed?: string; prompts?: Charge[] }

// For a prompt that no page leads to: the number finds it.
export const PhonePage = ({ speech, typed, prompts }: PhonePageProps) => {
  const { phone: t } = speech.t.sandbox
  const isWrong = typed !== undefined && !prompts
  return (
    <Page speech={speech} title={isWrong ? t.in_title : t.title}>
      <section class="card">
        <h1>{t.title}</h1>
        <p class="muted">{t.words}</p>
        <form method="get" action="/sandbox/phone">
          {speech.asked && <input type="hidden" name="lang" value={speech.asked} />}
          <label for="number">{t.number}</label>
          <input
            id="number"
            name="number"
            type="tel"
            inputmode="tel"
            autocomplete="off"
            maxlength={30}
            required
            value={typed ?? ''}
            {...(isWrong && { 'aria-invalid': 'true', 'aria-describedby': 'number-error' })}
          />
          {isWrong && (
            <p class="error" id="number-error" role="alert">
              {t.wrong}
            </p>
          )}
          <button type="submit">{t.show}</button>
        </form>
      </section>
      {prompts && <Prompts speech={speech} prompts={prompts} />}
    </Page>
  )
}

const Prompts = ({ speech, prompts }: { speech: Speech; prompts: Charge[] }) => {
  const { phone: t } = speech.t.sandbox
  return (
    <section class="card" role="status">
      <h2>{prompts.length === 0 ? t.none : t.waiting}</h2>
      {prompts.length === 0 ? (
        <p>{t.none_words}</p>
      ) : (
        <ul class="rows">
          {prompts.map(charge => (
            <li>
              <a href={linkIn(speech, `/sandbox/phone/${charge.reference}`)}>
                <bdi>{charge.payee}</bdi> <strong>{money(charge, speech)}</strong>
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

type PromptProps = { charge: Charge; speech: Speech; token: string }
type PromptPageProps = PromptProps & { now: Date; pace: number }

export const PromptPage = ({ charge, speech, token, now, pace }: PromptPageProps) => {
  if (waitsForPerson(charge, now, pace)) return <Prompt charge={charge} speech={speech} token={token} />
  const { status, reason = '' } = stateAt(charge, now, pace)
  const { asked, endings: t } = speech.t.sandbox
  const ending = endings[status === 'FAILED' ? reason : status] ?? 'not_paid'
  return (
    <Notice speech={speech} title={t[ending]} back={charge.return_url}>
      <p>
        <Say text={asked} shop={<bdi>{charge.payee}</bdi>} amount={money(charge, speech)} />{' '}
        {t[`${ending}_words`]}
      </p>
    </Notice>
  )
}

const Prompt = ({ charge, speech, token }: PromptProps) => {
  const { prompt: t } = speech.t.sandbox
  const amount = money(charge, speech)
  return (
    <Page speech={speech} title={fill(t.asks, { shop: charge.payee, amount })}>
      <section class="card">
        <p class="muted">{names[charge.method]}</p>
        <h1>
          <Say text={t.asks} shop={<bdi>{charge.payee}</bdi>} amount={<span class="amount">{amount}</span>} />
        </h1>
        <dl>
          {charge.payer && (
            <>
              <dt>{t.wallet}</dt>
              <dd>{maskPhone(`+${charge.payer}`)}</dd>
            </>
          )}
          {charge.note && (
            <>
              <dt>{t.note}</dt>
              <dd>
                <bdi>{charge.note}</bdi>
              </dd>
            </>
          )}
        </dl>
        <form method="post" action={linkIn(speech, `/sandbox/phone/${charge.reference}`)}>
          <FormToken token={token} />
          <button type="submit" name="decision" value="approve">
            {t.approve}
          </button>
          <button type="submit" name="decision" value="decline" class="second">
            {t.decline}
          </button>
        </form>
      </section>
      <p class="muted centre">{t.pin}</p>
    </Page>
  )
}

// Of what the provider calls it.
const endings: Record<string, 'pending' | 'approved' | 'declined' | 'withdrawn' | 'too_late'> = {
  PENDING: 'pending',
  SUCCESSFUL: 'approved',
  APPROVAL_REJECTED: 'declined',
  WITHDRAWN: 'withdrawn',
  EXPIRED: 'too_late',
}
