import type { PropsWithChildren } from '../../core/markup/jsx-runtime.ts'
import { NoticeCard } from '../../core/markup/page.tsx'
import { linkMinutes } from '../../core/operator/operatorKeys.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { moneyText } from '../../core/timeline/history.ts'
import { OperatorPage } from '../pages/operatorPage.tsx'

type SupportPageProps = PropsWithChildren<{
  title: string
  query?: string
  signedOut?: boolean
  isTest?: boolean
}>

// The frame of every support page. A visitor who is signed out sees no search.
export const SupportPage = ({ title, query = '', signedOut, isTest, children }: SupportPageProps) => (
  <OperatorPage title={`${title} · Tollgate support`} current="support" isTest={isTest}>
    {!signedOut && <Search query={query} />}
    {children}
  </OperatorPage>
)

const Search = ({ query }: { query: string }) => (
  <form action="/support" method="get" role="search">
    <label for="q">Reference or invoice id</label>
    <div class="search">
      <input
        id="q"
        name="q"
        type="search"
        value={query}
        autocomplete="off"
        spellcheck={false}
        maxlength={200}
      />
      <button type="submit">Look up</button>
    </div>
  </form>
)

export const SearchPage = () => (
  <SupportPage title="Look up a payment">
    <NoticeCard title="Why does a payment have its status?">
      <p>
        Type the reference that the customer reads out (it begins with TG), or the shop's invoice id. You see
        what happened, who reported it, and what happens next.
      </p>
      <p>
        <a class="more" href="/inbox">
          Mails and SMS to customers
        </a>
      </p>
    </NoticeCard>
  </SupportPage>
)

export const NoSuchPaymentPage = ({ query }: { query: string }) => (
  <SupportPage title="No such payment" query={query}>
    <NoticeCard title="We find no payment like that">
      <p>
        Nothing has the reference or invoice id <strong>{query}</strong>. Ask for it once more, letter by
        letter: our references have no I, L, O or U. An invoice id must be written exactly as the shop writes
        it.
      </p>
    </NoticeCard>
  </SupportPage>
)

export const SupportUnavailablePage = ({ query }: { query?: string }) => (
  <SupportPage title="Try again in a moment" query={query}>
    <NoticeCard title="The database is unavailable" tone="warn">
      <p>No payment is lost. Look it up again in a moment.</p>
    </NoticeCard>
  </SupportPage>
)

export const ForeignFormPage = () => (
  <SupportPage title="Nothing was done">
    <NoticeCard title="This did not come from our page" tone="warn">
      <p>Nothing was sent. Look the payment up, and press the button there.</p>
    </NoticeCard>
  </SupportPage>
)

export const SupportBusyPage = () => (
  <SupportPage title="Try again in a moment">
    <NoticeCard title="The gateway is too busy to read this form" tone="warn">
      <p>Nothing was sent. Reload this page in a moment.</p>
    </NoticeCard>
  </SupportPage>
)

export const SignInPage = ({ isTokenSet }: { isTokenSet: boolean }) => (
  <SupportPage title="Sign in" signedOut>
    <NoticeCard title="Sign in to open this page">
      <SignInHelp />
      {isTokenSet && (
        <p>
          Or reload this page and give TOLLGATE_SUPPORT_TOKEN, which is set on the gateway, as the password;
          any user name will do.
        </p>
      )}
    </NoticeCard>
  </SupportPage>
)

export const UsedLinkPage = () => (
  <SupportPage title="Sign in" signedOut>
    <NoticeCard title="This link does not work any more">
      <p>A link works once, within {linkMinutes} minutes.</p>
      <SignInHelp />
    </NoticeCard>
  </SupportPage>
)

export const LinkUnavailablePage = () => (
  <SupportPage title="Try again in a moment" signedOut>
    <NoticeCard title="The database is unavailable" tone="warn">
      <p>Open the link again in a moment.</p>
    </NoticeCard>
  </SupportPage>
)

const SignInHelp = () => (
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
  <SupportPage title="Wait a moment" signedOut>
    <NoticeCard title="Too many wrong passwords came from your address" tone="warn">
      <p>
        Reload this page in {seconds} {seconds === 1 ? 'second' : 'seconds'}. If others keep guessing from
        your address, come from another one; on the gateway's own machine, tollgate payment show prints the
        same timeline.
      </p>
    </NoticeCard>
  </SupportPage>
)

type Choice = Payment & { merchant_name: string }

export const ChoicePage = ({ query, choices }: { query: string; choices: readonly Choice[] }) => (
  <SupportPage title="Which payment?" query={query}>
    <h1>
      {choices.length} payments are called {query}
    </h1>
    <ul class="choices">
      {choices.map(payment => (
        <li>
          <a class="card" href={`/support?${addressOf(payment)}`}>
            <strong>{payment.merchant_name}</strong>
            <span>
              {moneyText(payment.currency, payment.total)}, {payment.mode}, {payment.status.replace('_', ' ')}
            </span>
            <span class="muted">{payment.tx_reference}</span>
          </a>
        </li>
      ))}
    </ul>
  </SupportPage>
)

const addressOf = ({ tx_reference, merchant_id }: Payment) =>
  new URLSearchParams({ q: tx_reference, merchant: merchant_id }).toString()
