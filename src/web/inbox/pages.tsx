import type { RecentMessage } from '../../actions/messages/recentMessages.ts'
import type { Medium } from '../../core/message/messenger.ts'
import { Frame } from './frame.tsx'
import { MessageCard } from './messageCard.tsx'

type ListProps = {
  messages: readonly RecentMessage[]
  older?: string
  isFirst: boolean
  goesOut(medium: Medium): boolean
  from: string
}

export const ListPage = ({ messages, older, isFirst, goesOut, from }: ListProps) => (
  <Frame title="Messages">
    <h1>Mails and SMS, newest first</h1>
    <p class="muted">{leaving(goesOut('sms'), goesOut('email'))}</p>
    {messages.length === 0 && (isFirst ? <Nothing /> : <End />)}
    <ol class="messages">
      {messages.map(message => (
        <li>
          <MessageCard message={message} from={from} />
        </li>
      ))}
    </ol>
    {(older || !isFirst) && (
      <nav class="pages" aria-label="Pages">
        {!isFirst && <a href="/inbox">Newest</a>}
        {older && <a href={`/inbox?${new URLSearchParams({ before: older }).toString()}`}>Older</a>}
      </nav>
    )}
  </Frame>
)

// Whoever tries things out has to know whether somebody gets them.
function leaving(sms: boolean, email: boolean): string {
  if (sms && email) return 'SMS and mails really go out: what is marked sent or delivered went to a person.'
  if (!sms && !email)
    return 'Nothing leaves this machine: no SMS network and no mail server is set up. You see what people would get.'
  return sms
    ? 'SMS really go out: those marked sent or delivered went to a person. Mails stay here: no mail server is set up.'
    : 'Mails really go out: those marked sent or delivered went to a person. SMS stay here: no SMS network is set up.'
}

const Nothing = () => (
  <section class="card">
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
  <section class="card">
    <h2>Nothing older</h2>
    <p>These were all messages.</p>
  </section>
)

export const UnreachablePage = () => (
  <Frame title="Try again in a moment">
    <section class="card warn">
      <h1>Our records are out of reach</h1>
      <p>Every message is safe there. Refresh this page in a moment.</p>
    </section>
  </Frame>
)
