import type { Texts } from '../../core/languages/en.ts'
import { type Lang, languages } from '../../core/languages/languages.ts'
import { cachedFragment } from '../../core/markup/fragmentCache.ts'
import type { Child, PropsWithChildren } from '../../core/markup/jsx-runtime.ts'
import { NoticeCard, PageFrame, SiteMark } from '../../core/markup/page.tsx'
import { accentCss } from '../../core/merchant/accent.ts'
import { type Branding, initialsOf } from '../../core/merchant/branding.ts'
import { writePhone } from '../../core/phone.ts'
import { fill } from '../../core/text.ts'
import { digestOf, readPublicFile } from '../documents/documents.ts'

type CustomerPageProps = PropsWithChildren<{
  title: string
  lang: Lang
  inLang?: (lang: Lang) => string // the address of this page in another language
  form?: string // the id of a form that is submitted to that address, so that its fields are kept
  test?: boolean
  isCopy?: boolean // of the database: no live payment is taken
  shop?: string
  branding?: Branding
  bill?: Child // what is paid; it has its own column on a wide screen
  aside?: Child // beside the page, on a wide screen
  reference?: string
  requestId?: string
  refresh?: { seconds: number; url: string } // for a browser without scripts
  script?: Record<`data-${string}`, string | number | undefined> // data for the script; without it no script is loaded
}>

// The frame of every page that a customer sees.
export const CustomerPage = (props: CustomerPageProps) => {
  const { lang, test = false, isCopy = false, shop, branding } = props
  const isWide = Boolean(props.bill)
  const facts = { lang, test, isCopy, shop, isWide, hasScript: Boolean(props.script), ...branding }
  return shopFrame(languages[lang], facts, {
    title: props.title,
    refresh: props.refresh && <Refresh {...props.refresh} />,
    languages: <Languages {...props} />,
    main: (
      <main {...props.script}>
        {props.bill}
        <div class="stage">
          <div class="room">{props.children}</div>
          {props.aside}
        </div>
      </main>
    ),
    ids: <Ids {...props} />,
  })
}

type FrameFacts = Branding & {
  lang: Lang
  test: boolean
  isCopy: boolean
  shop?: string
  isWide: boolean
  hasScript: boolean
}

// The part that is the same on all pages of one shop.
const shopFrame = cachedFragment((t: Texts, facts: FrameFacts, gap) => {
  const { lang, test, isCopy, shop, isWide, hasScript, ...branding } = facts
  return (
    <PageFrame
      lang={lang}
      dir={t.dir}
      title={gap('title')}
      styles={branding.accent ? [assets.css, accentAddress(branding.accent)] : [assets.css]}
      head={
        <>
          <link rel="icon" href={assets.icon} />
          {hasScript && <script src={assets.script} defer></script>}
          {gap('refresh')}
        </>
      }
      bodyClass={isWide ? 'desk' : undefined}
      header={
        <>
          {isCopy && <p class="test">{t.frame.copy}</p>}
          {test && <p class="test">{t.frame.test}</p>}
          <div class="top">
            <strong class="shop">
              {shop ? <ShopMark name={shop} logo={branding.logo} /> : <SiteMark />}
              <bdi>{shop ?? 'Tollgate'}</bdi>
            </strong>
            {gap('languages')}
          </div>
        </>
      }
      footer={
        <>
          {isWide && <Contact branding={branding} t={t} />}
          <div class="foot">
            {gap('ids')}
            <p>{t.frame.secured}</p>
          </div>
        </>
      }
    >
      {hasScript && <p class="status" role="status"></p>}
      {gap('main')}
    </PageFrame>
  )
})

const Ids = ({ lang, reference, requestId }: CustomerPageProps) => {
  const { frame } = languages[lang]
  return (
    <>
      {reference && <p>{fill(frame.reference, { reference })}</p>}
      {requestId && <p>{fill(frame.request, { request: requestId })}</p>}
    </>
  )
}

// For browsers without scripts. The script reloads the page only when something has changed.
const Refresh = ({ seconds, url }: { seconds: number; url: string }) => (
  <noscript>
    <meta http-equiv="refresh" content={`${seconds}; url=${url}`} />
  </noscript>
)

const langs = Object.keys(languages) as Lang[]

const Languages = ({ lang, inLang, form }: CustomerPageProps) => {
  if (!inLang) return null
  const addresses = Object.fromEntries(langs.map(other => [other, inLang(other)]))
  return languageSwitch(languages[lang], { lang, form }, addresses)
}

const languageSwitch = cachedFragment((t: Texts, { lang, form }: { lang: Lang; form?: string }, gap) => (
  <nav aria-label={t.frame.language}>
    {form && <DefaultButton form={form} />}
    {langs.map(
      other =>
        other !== lang &&
        (form ? (
          <button type="submit" form={form} formaction={gap(other)} class="link" lang={other}>
            {languages[other].name}
          </button>
        ) : (
          <a href={gap(other)} lang={other} hreflang={other}>
            {languages[other].name}
          </a>
        )),
    )}
  </nav>
))

// The Enter key presses the first button of a form in document order, which would be the language switch. This
// invisible button comes before it and submits the form.
const DefaultButton = ({ form }: { form: string }) => (
  <button type="submit" form={form} class="first" tabindex={-1} aria-hidden="true"></button>
)

// The logo of the shop, or its initials. It is decoration: the name is beside it.
const ShopMark = ({ name, logo }: { name: string; logo?: string }) =>
  logo ? (
    <img class="mark logo" src={logo} width="40" height="40" alt="" />
  ) : (
    <span class="mark" aria-hidden="true">
      {initialsOf(name)}
    </span>
  )

// How to reach the shop, and its terms. On a wide screen this element ends the shop's column, so it is rendered even if
// it is empty.
const Contact = ({ branding, t }: { branding: Branding; t: Texts }) => {
  const { support_phone, support_email, terms_url, refund_policy } = branding
  return (
    <div class="contact">
      {(support_phone || support_email) && (
        <p>
          {t.branding.questions}
          {support_phone && <a href={`tel:${support_phone}`}>{writePhone(support_phone)}</a>}
          {support_email && <a href={`mailto:${support_email}`}>{support_email}</a>}
        </p>
      )}
      {(refund_policy || terms_url) && (
        <p>
          {refund_policy && <bdi>{refund_policy}</bdi>}
          {terms_url && (
            <a href={terms_url} target="_blank" rel="noopener noreferrer">
              {t.branding.terms}
            </a>
          )}
        </p>
      )}
    </div>
  )
}

// The address of a public file has a digest of its content, so browsers may cache it for a year and still load a new
// version at once.
const versioned = (name: string) =>
  `/public/${name}?v=${digestOf(readPublicFile(new URL(`../public/${name}`, import.meta.url)))}`

const assets = {
  css: versioned('checkout.css'),
  script: versioned('checkout.js'),
  icon: versioned('icon.svg'),
}

// The shop's colour is a separate stylesheet, because the content security policy allows no inline style.
const accentAddress = (accent: string) =>
  `/public/accent/${accent.slice(1)}.css?v=${digestOf(Buffer.from(accentCss(accent)))}`

const kinds = {
  unreachable: ['unreachable', 'unreachable_text'], // the database
  copy: ['copy', 'copy_text'], // of the database
  busy: ['busy', 'busy_text'], // too many requests from this address
  too_busy: ['busy', 'too_busy_text'], // the gateway
  no_payment: ['no_payment', 'no_payment_text'],
  nothing_here: ['nothing_here', 'nothing_here_text'],
  elsewhere: ['elsewhere', 'elsewhere_text'], // a form that another site sent
  broken: ['broken', 'broken_text'],
  unreadable: ['unreadable', 'unreadable_text'], // a form
} as const

type TroubleProps = { lang: Lang; kind: keyof typeof kinds; open?: string; requestId?: string }

// A customer's page that shows no payment, and why. `open` is the address of the payment.
export const TroublePage = ({ lang, kind, open, requestId }: TroubleProps) => {
  const { trouble, home } = languages[lang]
  const [title, text] = kinds[kind]
  const isNowhere = kind === 'nothing_here' || kind === 'no_payment'
  const [href, label] = isNowhere ? [`/?lang=${lang}`, home.go] : [open, trouble.open]
  return (
    <CustomerPage title={trouble[title]} lang={lang} inLang={other => `?lang=${other}`} requestId={requestId}>
      <NoticeCard title={trouble[title]} tone="warn">
        <p>{trouble[text]}</p>
      </NoticeCard>
      {href && (
        <p>
          <a class="btn wide" href={href}>
            {label}
          </a>
        </p>
      )}
    </CustomerPage>
  )
}
