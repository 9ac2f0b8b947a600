import { type Context, Hono } from 'hono'
import { FormToken, Sentence } from '../core/markup/page.tsx'
import { maskPhone } from '../core/mask.ts'
import { parsePhone } from '../core/phone.ts'
import { fill } from '../core/text.ts'
import { type Charge, decideCharge, listUndecided } from '../store/sandboxCharges.ts'
import { type ChargeState, type EndingName, stateAt, waitsForPerson } from './charge.ts'
import {
  chargeMoney,
  languageOf,
  linkIn,
  notFoundPage,
  ownForms,
  type PageLanguage,
  readForm,
  type SandboxContext,
  type SandboxEnv,
  SandboxPage,
  sendSandboxPage,
  StatementPage,
  tokenFor,
} from './page.tsx'
import { chargeOf } from './provider.ts'

const listedMs = 10 * 60_000 // how long a prompt is listed
const maxListed = 20

const decisions = new Map<string, EndingName>([
  ['approve', 'person_approved'],
  ['decline', 'person_declined'],
])

// The test phone. It shows what a customer would see in the menu of a wallet.
export function phoneRoutes(context: SandboxContext) {
  const { db, clock, timeScale, callbacks } = context
  const app = new Hono<SandboxEnv>()

  app.get('/', async c => {
    const input = c.req.query('number')?.trim().slice(0, 60)
    const phone = input === undefined ? undefined : parsePhone(input)
    const now = clock()
    const since = new Date(now.getTime() - listedMs)
    const charges = phone ? await listUndecided(db, phone.slice(1), since, maxListed) : undefined
    const prompts = charges?.filter(charge => waitsForPerson(charge, now, timeScale))
    const http = input !== undefined && !phone ? 422 : 200
    return sendSandboxPage(c, <PhonePage language={languageOf(c)} input={input} prompts={prompts} />, http)
  })

  app.get('/:ref', async c => {
    const charge = await chargeOnPhone(c)
    if (!charge) return notFoundPage(c)
    const now = clock()
    const props = { charge, language: languageOf(c) }
    const page = waitsForPerson(charge, now, timeScale) ? (
      <PromptPage {...props} token={tokenFor(context, charge.reference)} />
    ) : (
      <AnsweredPage {...props} state={stateAt(charge, now, timeScale)} />
    )
    return sendSandboxPage(c, page)
  })

  app.post('/:ref', ...ownForms(context), async c => {
    const charge = await chargeOnPhone(c)
    if (!charge) return notFoundPage(c)
    const now = clock()
    const { decision } = await readForm(c, ['decision'])
    const decided = waitsForPerson(charge, now, timeScale) && decisions.get(decision)
    const changed = decided && (await decideCharge(db, charge.reference, decided, now))
    if (changed) callbacks.schedule(changed)
    return c.redirect(linkIn(languageOf(c), `/sandbox/phone/${charge.reference}`), 303)
  })

  async function chargeOnPhone(c: Context): Promise<Charge | undefined> {
    const charge = await chargeOf(c, db)
    return charge?.method === 'card' ? undefined : charge
  }

  return app
}

const methodNames: Record<string, string> = {
  mtn: 'MTN MoMo',
  telecel: 'Telecel Cash',
  at: 'AT Money',
  ghqr: 'GhQR',
}

type PhonePageProps = { language: PageLanguage; input?: string; prompts?: Charge[] }

// Finds the prompts of a number.
const PhonePage = ({ language, input, prompts }: PhonePageProps) => {
  const { phone: t } = language.t.sandbox
  const isWrong = input !== undefined && !prompts
  return (
    <SandboxPage language={language} title={isWrong ? t.in_title : t.title}>
      <section class="card">
        <h1>{t.title}</h1>
        <p class="muted">{t.text}</p>
        <form method="get" action="/sandbox/phone">
          {language.inUrl && <input type="hidden" name="lang" value={language.inUrl} />}
          <label for="number">{t.number}</label>
          <input
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
            <p class="error" id="number-error" role="alert">
              {t.wrong}
            </p>
          )}
          <button type="submit">{t.show}</button>
        </form>
      </section>
      {prompts && <Prompts language={language} prompts={prompts} />}
    </SandboxPage>
  )
}

const Prompts = ({ language, prompts }: { language: PageLanguage; prompts: Charge[] }) => {
  const { phone: t } = language.t.sandbox
  return (
    <section class="card" role="status">
      <h2>{prompts.length === 0 ? t.none : t.waiting}</h2>
      {prompts.length === 0 ? (
        <p>{t.none_text}</p>
      ) : (
        <ul class="rows">
          {prompts.map(charge => (
            <li>
              <a href={linkIn(language, `/sandbox/phone/${charge.reference}`)}>
                <bdi>{charge.payee}</bdi> <strong>{chargeMoney(charge, language)}</strong>
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

type ChargeProps = { charge: Charge; language: PageLanguage }

// The request waits for no tester: it was answered, has expired or is answered automatically.
const AnsweredPage = ({ charge, language, state }: ChargeProps & { state: ChargeState }) => {
  const { status, reason = '' } = state
  const { asked, endings: t } = language.t.sandbox
  const ending = endings[status === 'FAILED' ? reason : status] ?? 'not_paid'
  return (
    <StatementPage language={language} title={t[ending]} back={charge.return_url}>
      <p>
        <Sentence text={asked} shop={<bdi>{charge.payee}</bdi>} amount={chargeMoney(charge, language)} />{' '}
        {t[`${ending}_text`]}
      </p>
    </StatementPage>
  )
}

const PromptPage = ({ charge, language, token }: ChargeProps & { token: string }) => {
  const { prompt: t } = language.t.sandbox
  const amount = chargeMoney(charge, language)
  return (
    <SandboxPage language={language} title={fill(t.asks, { shop: charge.payee, amount })}>
      <section class="card">
        <p class="muted">{methodNames[charge.method]}</p>
        <h1>
          <Sentence
            text={t.asks}
            shop={<bdi>{charge.payee}</bdi>}
            amount={<span class="amount">{amount}</span>}
          />
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
        <form method="post" action={linkIn(language, `/sandbox/phone/${charge.reference}`)}>
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
    </SandboxPage>
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
