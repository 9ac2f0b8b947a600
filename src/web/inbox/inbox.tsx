import { readFileSync } from 'node:fs'
import { Hono } from 'hono'
import { type RecentMessage, recentMessage, recentMessages } from '../../actions/messages/recentMessages.ts'
import type { ShownUserMail } from '../../actions/access/sendUserMails.ts'
import type { PropsWithChildren } from '../../core/markup/jsx-runtime.ts'
import { NoticeCard, pageHeaders, pagePolicy } from '../../core/markup/page.tsx'
import type { Medium } from '../../core/message/messenger.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { acceptsJson } from '../http/apiRequest.ts'
import { type Ctx, type Env, errorContext, respond } from '../http/context.ts'
import { isRefusal, refusalAnswer } from '../http/errors.ts'
import type { OperatorAuth } from '../http/operatorAuth.ts'
import { OperatorPage } from '../pages/operatorPage.tsx'
import { guard } from '../support/signIn.tsx'
import { sendList, sendMessage } from './json.ts'
import { frameSandbox, MessageCard } from './messageCard.tsx'
import { UserMails } from './userMails.tsx'

const css = readFileSync(new URL('./inbox.css', import.meta.url), 'utf8')

// The page frames the mails, which come from this origin too.
const headers = pageHeaders(pagePolicy("style-src 'self'; frame-src 'self'"))

// A mail has inline styles. It is framed in a sandbox, so that nothing in it can run, load or reach anything. Only its
// links work, in a new window.
const mailHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; " +
    `sandbox ${frameSandbox}`,
  'x-frame-options': 'SAMEORIGIN',
}

export type InboxOptions = {
  runtime: Pick<Runtime, 'db' | 'baseUrl'>
  auth: OperatorAuth
  isSent?(medium: Medium): boolean // false if such messages are only stored, because no messenger is configured
  from?: string // the sender of the mails
  userMails?(): Promise<readonly ShownUserMail[]> // mails with links that sign people in: on this machine only
}

// Every mail and SMS as its recipient sees it. The routes only read. They are mounted at /inbox, and share the sign-in
// and the stylesheet of /support.
export function inboxRoutes(options: InboxOptions) {
  const routes = new Hono<Env>({ strict: false })
  routes.use(guard(headers, options.auth))
  routes.get('/inbox.css', c => c.body(css, 200, { 'content-type': 'text/css; charset=utf-8' }))
  routes.get('/:merchant_id/:message_id', c => orUnavailable(c, () => sendMessage(options, c)))
  routes.get('/:merchant_id/:message_id/html', c => orUnavailable(c, () => showMail(options, c)))
  routes.get('/', c => orUnavailable(c, () => showList(options, c)))
  return routes
}

async function showList(options: InboxOptions, c: Ctx) {
  c.header('vary', 'accept')
  if (acceptsJson(c.req.header('accept'))) return sendList(options, c)
  const { runtime, isSent = () => false, from = 'Tollgate' } = options
  const before = c.req.query('before')
  const list = await recentMessages(runtime, before)
  const isFirst = before === undefined
  const userMails = isFirst ? await options.userMails?.() : undefined
  return c.html(<ListPage {...list} isFirst={isFirst} isSent={isSent} from={from} userMails={userMails} />)
}

// Only the mail, for the frame on the page.
async function showMail({ runtime }: InboxOptions, c: Ctx) {
  const { merchant_id = '', message_id = '' } = c.req.param()
  const message = await recentMessage(runtime, { merchant_id, message_id })
  if (!message?.mail) return c.notFound()
  c.header('cross-origin-opener-policy', undefined) // browsers reject it together with a sandbox
  return c.html(message.mail.html, 200, mailHeaders)
}

async function orUnavailable(c: Ctx, answer: () => Promise<Response>) {
  try {
    return await answer()
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (acceptsJson(c.req.header('accept'))) return respond(c, refusalAnswer(error, errorContext(c)))
    return c.html(<UnavailablePage />, 503, { 'retry-after': '5' })
  }
}

const InboxPage = ({ title, children }: PropsWithChildren<{ title: string }>) => (
  <OperatorPage title={`${title} · Tollgate inbox`} styles={['/inbox/inbox.css']} current="inbox">
    {children}
  </OperatorPage>
)

type ListProps = {
  messages: readonly RecentMessage[]
  older?: string
  isFirst: boolean
  isSent(medium: Medium): boolean
  from: string
  userMails?: readonly ShownUserMail[]
}

const ListPage = ({ messages, older, isFirst, isSent, from, userMails = [] }: ListProps) => (
  <InboxPage title="Messages">
    <div class="title">
      <h1>Mails and SMS, newest first</h1>
      <a class="btn plain" href="/inbox">
        Refresh
      </a>
    </div>
    <p class="muted">{sendingText(isSent('sms'), isSent('email'))}</p>
    {userMails.length > 0 && <UserMails mails={userMails} from={from} />}
    {messages.length === 0 && (isFirst ? <Empty /> : <End />)}
    {messages.length > 0 && (
      <ol class="stack">
        {messages.map(message => (
          <li>
            <MessageCard message={message} from={from} />
          </li>
        ))}
      </ol>
    )}
    {(older || !isFirst) && (
      <nav class="row" aria-label="More messages">
        {!isFirst && (
          <a class="btn plain" href="/inbox">
            Newest
          </a>
        )}
        {older && (
          <a class="btn plain" href={`/inbox?${new URLSearchParams({ before: older }).toString()}`}>
            Older
          </a>
        )}
      </nav>
    )}
  </InboxPage>
)

// An operator who is testing must see whether real people receive the messages.
function sendingText(sms: boolean, email: boolean): string {
  if (sms && email) return 'SMS and mails really go out: what is marked sent or delivered went to a person.'
  if (!sms && !email)
    return 'Nothing leaves this machine: no SMS network and no mail server is set up. You see what people would get.'
  return sms
    ? 'SMS really go out: those marked sent or delivered went to a person. Mails stay here: no mail server is set up.'
    : 'Mails really go out: those marked sent or delivered went to a person. SMS stay here: no SMS network is set up.'
}

const Empty = () => (
  <section class="card roomy flow">
    <h2>No message yet</h2>
    <p>
      Make a test payment with a number and an email address, and pay it with the test wallet 024 000 0000.
      Its SMS and its mail show up here.
    </p>
    <p>
      A customer gets a message when a payment is paid, and when it fails or is cancelled after a try.{' '}
      <a href="/docs">How to make a payment</a>
    </p>
  </section>
)

const End = () => (
  <section class="card roomy flow">
    <h2>Nothing older</h2>
    <p>These were all messages.</p>
  </section>
)

const UnavailablePage = () => (
  <InboxPage title="Try again in a moment">
    <NoticeCard title="The database is unavailable" tone="warn">
      <p>No message is lost. Refresh this page in a moment.</p>
    </NoticeCard>
  </InboxPage>
)
