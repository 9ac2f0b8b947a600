import { type Lang, languages } from '../../core/languages/languages.ts'
import { NoticeCard } from '../../core/markup/page.tsx'
import { CustomerPage } from './customerPage.tsx'

const kinds = {
  unreachable: ['unreachable', 'unreachable_words'], // the database
  busy: ['busy', 'busy_words'], // too many requests from this address
  too_busy: ['busy', 'too_busy_words'], // the gateway
  no_payment: ['no_payment', 'no_payment_words'],
  nothing_here: ['nothing_here', 'nothing_here_words'],
  elsewhere: ['elsewhere', 'elsewhere_words'], // a form that another site sent
  broken: ['broken', 'broken_words'],
  unreadable: ['unreadable', 'unreadable_words'], // a form
} as const

type TroubleProps = { lang: Lang; kind: keyof typeof kinds; open?: string; requestId?: string }

// A customer's page that shows no payment, and why. `open` is the address of the payment.
export const TroublePage = ({ lang, kind, open, requestId }: TroubleProps) => {
  const { trouble, home } = languages[lang]
  const [title, words] = kinds[kind]
  const [href, label] = kind === 'nothing_here' ? [`/?lang=${lang}`, home.go] : [open, trouble.open]
  return (
    <CustomerPage title={trouble[title]} lang={lang} inLang={other => `?lang=${other}`} requestId={requestId}>
      <NoticeCard title={trouble[title]} tone="warn">
        <p>{trouble[words]}</p>
      </NoticeCard>
      {href && (
        <p>
          <a class="button" href={href}>
            {label}
          </a>
        </p>
      )}
    </CustomerPage>
  )
}
