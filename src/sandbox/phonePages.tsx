import { maskPhone } from '../core/mask.ts'
import type { Charge } from '../store/sandboxCharges.ts'
import { stateAt, waitsForPerson } from './charge.ts'
import { money, Notice, Page } from './page.tsx'

const names: Record<string, string> = {
  mtn: 'MTN MoMo',
  telecel: 'Telecel Cash',
  at: 'AT Money',
  ghqr: 'GhQR',
}

type PhonePageProps = { typed?: string; prompts?: Charge[] }

// For a prompt that no page leads to: the number finds it.
export const PhonePage = ({ typed, prompts }: PhonePageProps) => {
  const isWrong = typed !== undefined && !prompts
  return (
    <Page title={isWrong ? 'Not a phone number: test phone' : 'Test phone'}>
      <section class="card">
        <h1>Test phone</h1>
        <p class="muted">
          Type a wallet number. You see the requests of the last 10 minutes that wait for it.
        </p>
        <form method="get" action="/sandbox/phone">
          <label for="number">Wallet number</label>
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
              This is not a phone number. Write it like 024 123 4567.
            </p>
          )}
          <button type="submit">Show requests</button>
        </form>
      </section>
      {prompts && <Prompts prompts={prompts} />}
    </Page>
  )
}

const Prompts = ({ prompts }: { prompts: Charge[] }) => (
  <section class="card" role="status">
    <h2>{prompts.length === 0 ? 'Nothing waits for this number' : 'Waiting for you'}</h2>
    {prompts.length === 0 ? (
      <p>Numbers that end in 000 to 009 answer by themselves. Any other number waits here.</p>
    ) : (
      <ul class="rows">
        {prompts.map(charge => (
          <li>
            <a href={`/sandbox/phone/${charge.reference}`}>
              <bdi>{charge.payee}</bdi> <strong>{money(charge)}</strong>
            </a>
          </li>
        ))}
      </ul>
    )}
  </section>
)

type PromptPageProps = { charge: Charge; now: Date; pace: number }

export const PromptPage = ({ charge, now, pace }: PromptPageProps) => {
  if (waitsForPerson(charge, now, pace)) return <Prompt charge={charge} />
  const { status, reason = '' } = stateAt(charge, now, pace)
  const [title, words] = endings[status === 'FAILED' ? reason : status] ?? notPaid
  return (
    <Notice title={title} back={charge.return_url}>
      <p>
        <bdi>{charge.payee}</bdi> asked for {money(charge)}. {words}
      </p>
    </Notice>
  )
}

const Prompt = ({ charge }: { charge: Charge }) => (
  <Page title={`${charge.payee} asks for ${money(charge)}`}>
    <section class="card">
      <p class="muted">{names[charge.method]}</p>
      <h1>
        <bdi>{charge.payee}</bdi> asks for <span class="amount">{money(charge)}</span>
      </h1>
      <dl>
        {charge.payer && (
          <>
            <dt>Wallet</dt>
            <dd>{maskPhone(`+${charge.payer}`)}</dd>
          </>
        )}
        {charge.note && (
          <>
            <dt>For</dt>
            <dd>
              <bdi>{charge.note}</bdi>
            </dd>
          </>
        )}
      </dl>
      <form method="post" action={`/sandbox/phone/${charge.reference}`}>
        <button type="submit" name="decision" value="approve">
          Approve
        </button>
        <button type="submit" name="decision" value="decline" class="second">
          Decline
        </button>
      </form>
    </section>
    <p class="muted centre">This is a test phone. A real one asks for a PIN here.</p>
  </Page>
)

const notPaid = ['Not paid', 'The wallet said no. Nothing was taken.'] as const

const endings: Record<string, readonly [string, string]> = {
  PENDING: ['Waiting', 'This test wallet answers by itself. There is nothing for you to do here.'],
  SUCCESSFUL: ['Approved', 'No real money moved.'],
  APPROVAL_REJECTED: ['Declined', 'Nothing was taken.'],
  WITHDRAWN: ['Withdrawn', 'The request was taken back at the checkout. Nothing was taken.'],
  EXPIRED: ['Too late', 'The request was not answered in time. Nothing was taken.'],
}
