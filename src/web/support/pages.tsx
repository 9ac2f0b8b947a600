import { linkMinutes } from '../../core/operator/operatorKeys.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { money } from '../../core/story/story.ts'
import { Frame } from './frame.tsx'

export const AskPage = () => (
  <Frame title="Look up a payment">
    <section class="card">
      <h1>Why does a payment stand as it does?</h1>
      <p>
        Type the reference that the customer reads out (it begins with TG), or the shop's invoice id. You see
        what happened, who said so, and what happens next.
      </p>
      <p>
        <a class="more" href="/inbox">
          Mails and SMS to customers
        </a>
      </p>
    </section>
  </Frame>
)

export const NothingPage = ({ word }: { word: string }) => (
  <Frame title="No such payment" word={word}>
    <section class="card">
      <h1>We find no payment like that</h1>
      <p>
        Nothing has the reference or invoice id <strong>{word}</strong>. Ask for it once more, letter by
        letter: our references have no I, L, O or U. An invoice id must be written exactly as the shop writes
        it.
      </p>
    </section>
  </Frame>
)

export const UnreachablePage = ({ word }: { word: string }) => (
  <Frame title="Try again in a moment" word={word}>
    <section class="card warn">
      <h1>Our records are out of reach</h1>
      <p>Every payment is safe there. Look it up again in a moment.</p>
    </section>
  </Frame>
)

export const ElsewherePage = () => (
  <Frame title="Nothing was done">
    <section class="card warn">
      <h1>This did not come from our page</h1>
      <p>Nothing was sent. Look the payment up, and press the button there.</p>
    </section>
  </Frame>
)

export const TooBusyPage = () => (
  <Frame title="Try again in a moment">
    <section class="card warn">
      <h1>The gateway is too busy to read this form</h1>
      <p>Nothing was sent. Reload this page in a moment.</p>
    </section>
  </Frame>
)

export const RefusedPage = ({ isTokenSet }: { isTokenSet: boolean }) => (
  <Frame title="Sign in" closed>
    <section class="card">
      <h1>Sign in to open this page</h1>
      <SignIn />
      {isTokenSet && (
        <p>
          Or reload this page and give TOLLGATE_SUPPORT_TOKEN, which is set on the gateway, as the password;
          any user name will do.
        </p>
      )}
    </section>
  </Frame>
)

export const UsedLinkPage = () => (
  <Frame title="Sign in" closed>
    <section class="card">
      <h1>This link does not work any more</h1>
      <p>A link works once, within {linkMinutes} minutes.</p>
      <SignIn />
    </section>
  </Frame>
)

export const UnreachableLinkPage = () => (
  <Frame title="Try again in a moment" closed>
    <section class="card warn">
      <h1>The database is unavailable</h1>
      <p>Open the link again in a moment.</p>
    </section>
  </Frame>
)

const SignIn = () => (
  <>
    <p>On the machine of the gateway, run this command and open the link that it prints:</p>
    <pre>
      <code>tollgate support link</code>
    </pre>
    <p class="muted">
      If you started Tollgate with <code>npm start</code>, run <code>npx tollgate support link</code> in the
      same folder. The command needs the same settings as the gateway.
    </p>
  </>
)

export const TooOftenPage = ({ seconds }: { seconds: number }) => (
  <Frame title="Wait a moment" closed>
    <section class="card warn">
      <h1>Too many wrong passwords came from your address</h1>
      <p>
        Reload this page in {seconds} {seconds === 1 ? 'second' : 'seconds'}. If others keep guessing from
        your address, come from another one; on the gateway's own machine, tollgate payment show tells the
        same story.
      </p>
    </section>
  </Frame>
)

type Choice = Payment & { merchant_name: string }

export const ChoicePage = ({ word, choices }: { word: string; choices: readonly Choice[] }) => (
  <Frame title="Which payment?" word={word}>
    <h1>
      {choices.length} payments are called {word}
    </h1>
    <ul class="choices">
      {choices.map(payment => (
        <li>
          <a class="card" href={`/support?${addressOf(payment)}`}>
            <strong>{payment.merchant_name}</strong>
            <span>
              {money(payment.currency, payment.total)}, {payment.mode}, {payment.status.replace('_', ' ')}
            </span>
            <span class="muted">{payment.tx_reference}</span>
          </a>
        </li>
      ))}
    </ul>
  </Frame>
)

const addressOf = ({ tx_reference, merchant_id }: Payment) =>
  new URLSearchParams({ q: tx_reference, merchant: merchant_id }).toString()
