import type { ShownUserMail } from '../../actions/access/sendUserMails.ts'
import { Time } from '../pages/operatorPage.tsx'

type UserMailsProps = { mails: readonly ShownUserMail[]; from: string }

// The mails to the people who sign in to the dashboard, while no mail server is set up.
export const UserMails = ({ mails, from }: UserMailsProps) => (
  <ol class="stack">
    {mails.map(mail => (
      <li>
        <UserMailCard mail={mail} from={from} />
      </li>
    ))}
  </ol>
)

const UserMailCard = ({ mail, from }: { mail: ShownUserMail; from: string }) => {
  const link = /^https?:\/\/\S+\/dashboard\/\S+$/m.exec(mail.text)?.[0]
  return (
    <article class="card message">
      <div class="about">
        <header class="row">
          <h2>Mail: to a user</h2>
        </header>
        <dl class="facts">
          <dt>To</dt>
          <dd>{mail.email}</dd>
          <dt>Written</dt>
          <dd>
            <Time at={mail.created_at} />
          </dd>
        </dl>
        {link && (
          <p class="row">
            <a class="btn plain small" href={link}>
              Open its link
            </a>
          </p>
        )}
      </div>
      <div class="shown">
        <div class="mail">
          <dl class="envelope">
            <dt>From</dt>
            <dd>{from}</dd>
            <dt>Subject</dt>
            <dd lang={mail.lang}>
              <strong>{mail.subject}</strong>
            </dd>
          </dl>
          <pre lang={mail.lang} tabindex={0}>
            {mail.text}
          </pre>
        </div>
      </div>
    </article>
  )
}
