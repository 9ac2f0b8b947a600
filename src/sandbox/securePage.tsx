import { fill } from '../core/text.ts'
import type { Charge } from '../store/sandboxCharges.ts'
import { CardInput } from './cardInput.tsx'
import { Cancel } from './cardPages.tsx'
import { FormToken, linkIn, money, Page, Say, type Speech } from './page.tsx'

type SecureProps = { charge: Charge; speech: Speech; token: string; isMissing?: boolean }

// Plays the customer's bank.
export const SecurePage = ({ charge, speech, token, isMissing }: SecureProps) => {
  const { secure: t } = speech.t.sandbox
  const amount = money(charge, speech)
  const title = fill(t.page, { amount })
  return (
    <Page speech={speech} title={isMissing ? fill(t.in_title, { title }) : title}>
      <form
        class="card"
        method="post"
        action={linkIn(speech, `/sandbox/card/${charge.reference}/3ds`)}
        novalidate
      >
        <FormToken token={token} />
        <h1>{t.title}</h1>
        <p>
          <Say
            text={t.words}
            shop={<bdi>{charge.payee}</bdi>}
            amount={amount}
            card={`${charge.card_type} •••• ${charge.card_last4}`}
          />
        </p>
        <p class="muted">{t.nothing_sent}</p>
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
        <button type="submit">{t.confirm}</button>
      </form>
      <Cancel charge={charge} speech={speech} token={token} />
    </Page>
  )
}
