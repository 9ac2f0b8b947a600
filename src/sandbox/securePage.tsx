import type { Charge } from '../store/sandboxCharges.ts'
import { CardInput } from './cardInput.tsx'
import { Cancel } from './cardPages.tsx'
import { money, Page } from './page.tsx'

// Plays the customer's bank.
export const SecurePage = ({ charge, isMissing }: { charge: Charge; isMissing?: boolean }) => (
  <Page title={`${isMissing ? 'The code is missing: ' : ''}3-D Secure, ${money(charge)}`}>
    <form class="card" method="post" action={`/sandbox/card/${charge.reference}/3ds`} novalidate>
      <h1>Is it you?</h1>
      <p>
        Your bank asks for the code that it sent you, to pay <bdi>{charge.payee}</bdi> {money(charge)} with{' '}
        {charge.card_type} •••• {charge.card_last4}.
      </p>
      <p class="muted">Nothing was sent: any code passes here, 000000 fails.</p>
      <CardInput
        name="code"
        label="Code"
        inputmode="numeric"
        autocomplete="one-time-code"
        maxlength={12}
        required
        error={isMissing ? 'Type a code.' : undefined}
        isAlone
      />
      <button type="submit">Confirm</button>
    </form>
    <Cancel charge={charge} />
  </Page>
)
