import type { PropsWithChildren } from '../../core/markup/jsx-runtime.ts'
import { NoticeCard } from '../../core/markup/page.tsx'
import { linkMinutes } from '../../core/operator/operatorKeys.ts'
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
    <label for="q">Look up a payment or a request</label>
    <div class="search">
      <input
        id="q"
        name="q"
        type="search"
        value={query}
        autocomplete="off"
        spellcheck={false}
        maxlength={500}
        aria-describedby="q-kinds"
      />
      <button type="submit">Look up</button>
    </div>
    <p id="q-kinds" class="muted">
      Reference, invoice id, phone or wallet number, email, the provider's reference, a checkout link, or a
      request id (req_…).
    </p>
  </form>
)

export const NoSuchPaymentPage = ({ query }: { query: string }) => (
  <SupportPage title="No such payment" query={query}>
    <NoticeCard title="We find no payment like that">
      <p>
        No payment has <strong>{query}</strong> as its reference, invoice id, phone or wallet number, email,
        provider's reference or checkout link. Ask for it once more, letter by letter: our references have no
        I, L, O or U. An invoice id must be written exactly as the shop writes it. Phone numbers and email
        addresses are removed from old payments if the operator has set a time for it.
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

export const CopyPage = () => (
  <SupportPage title="Nothing was done">
    <NoticeCard title="This gateway works on a copy of its database" tone="warn">
      <p>Nothing was sent. If this is the real database now, the operator runs tollgate adopt.</p>
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
