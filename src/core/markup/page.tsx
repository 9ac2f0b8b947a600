import { formTokenField } from '../formOrigin.ts'
import { en, type Texts } from '../languages/en.ts'
import { type Child, type PropsWithChildren, raw } from './jsx-runtime.ts'

// The parts that all pages share: checkout, shop, support, inbox, sandbox and documentation. Their looks are in
// tokens.css, base.css and components.css.

type PageFrameProps = PropsWithChildren<{
  lang: string
  dir?: string
  title: Child
  styles: readonly string[] // the addresses of the stylesheets
  head?: Child // further elements of the head
  isListed?: boolean // search engines may list the page
  colorScheme?: string
  bodyClass?: string
  headerClass?: string
  header?: Child
  footer?: Child
}>

// The document around a page. The children are its <main>.
export const PageFrame = (props: PageFrameProps) => {
  const { lang, dir = 'ltr', title, styles, head, isListed, colorScheme = 'light dark' } = props
  const { bodyClass, headerClass, header, footer, children } = props
  return (
    <>
      {raw('<!doctype html>')}
      <html lang={lang} dir={dir}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content={colorScheme} />
          {!isListed && <meta name="robots" content="noindex" />}
          <title>{title}</title>
          {styles.map(href => (
            <link rel="stylesheet" href={href} />
          ))}
          {head}
        </head>
        <body class={bodyClass}>
          {header && <header class={headerClass}>{header}</header>}
          {children}
          {footer && <footer>{footer}</footer>}
        </body>
      </html>
    </>
  )
}

const icons = {
  check: <path d="M4 10.5l4 4 8-9" />,
  cross: <path d="M5 5l10 10M15 5L5 15" />,
  down: <path d="M5 7.5l5 5 5-5" />,
  menu: <path d="M3 6h14M3 10h14M3 14h14" />,
  alert: <path d="M10 2.5L18.5 17H1.5zM10 8v4M10 14.5v.01" />,
  stop: <path d="M10 1.5a8.5 8.5 0 1 1 0 17a8.5 8.5 0 1 1 0-17M7 7l6 6M13 7l-6 6" />,
  copy: <path d="M7 7h10v10H7zM4 13H3V3h10v1" />,
}

// A decoration beside a text that says the same.
export const Icon = ({ name }: { name: keyof typeof icons }) => (
  <svg class="i" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    {icons[name]}
  </svg>
)

type NoticeProps = PropsWithChildren<{ title: string; tone?: 'warn' | 'bad' }>

// The card of an error page, and of a page with a single statement.
export const NoticeCard = ({ title, tone, children }: NoticeProps) =>
  tone ? (
    <section class={tone === 'bad' ? 'notice bad' : 'notice'}>
      <Icon name={tone === 'bad' ? 'stop' : 'alert'} />
      <div>
        <h1>{title}</h1>
        {children}
      </div>
    </section>
  ) : (
    <section class="card">
      <h1>{title}</h1>
      {children}
    </section>
  )

const sitePlaces = {
  shop: '/',
  phone: '/sandbox/phone',
  inbox: '/inbox',
  support: '/support',
  docs: '/docs',
} as const
export type SitePlace = keyof typeof sitePlaces

type SiteHeaderProps = {
  places: readonly SitePlace[] // the pages that this gateway has for this visitor
  current?: SitePlace
  texts?: Texts['site'] // English, where a page has only that language
}

// The header of every page except the checkout: the mark, the name and the links to the other pages. On a phone the
// links are in a menu, which needs no script.
export const SiteHeader = ({ places, current, texts = en.site }: SiteHeaderProps) => {
  const links = (
    <nav aria-label={texts.pages}>
      {places.map(place => (
        <a href={sitePlaces[place]} aria-current={place === current ? 'page' : undefined}>
          {texts[place]}
        </a>
      ))}
    </nav>
  )
  return (
    <div class="head">
      <div>
        <a class="brand" href="/">
          <SiteMark />
          Tollgate
        </a>
        {links}
        <details class="menu">
          <summary class="btn plain small">
            <Icon name="menu" />
            {texts.menu}
          </summary>
          {links}
        </details>
      </div>
    </div>
  )
}

// The mark of the gateway.
export const SiteMark = () => (
  <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="9" fill="var(--accent)" />
    <path
      d="M9 23.5V9.5h14v14"
      fill="none"
      stroke="var(--on-accent)"
      stroke-width="3"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
    <circle cx="16" cy="20" r="3.25" fill="var(--on-accent)" />
  </svg>
)

// Copies the code beside it. The script /public/copy.js shows the button, if the page loads it.
export const CopyButton = () => (
  <button type="button" class="btn plain small copy" data-copied="Copied" hidden>
    <Icon name="copy" />
    Copy
  </button>
)

export const CodeBlock = ({ code }: { code: string }) => (
  <div class="code">
    <pre tabindex={0}>
      <code>{code}</code>
    </pre>
    <CopyButton />
  </div>
)

// A text with elements in place of its {placeholders}.
export const Sentence = ({ text, ...values }: { text: string } & Record<string, Child>) => (
  <>
    {text
      .split(/\{(\w+)\}/)
      .map((part, at) => (at % 2 === 0 ? part : Object.hasOwn(values, part) ? values[part] : `{${part}}`))}
  </>
)

// Every form that changes something has this field.
export const FormToken = ({ token }: { token: string }) => (
  <input type="hidden" name={formTokenField} value={token} />
)

// The content security policy of a page: it loads only what `sources` names, and from this origin only.
export const pagePolicy = (sources = "style-src 'self'", framedBy = "'none'") =>
  `default-src 'none'; ${sources}; base-uri 'none'; form-action 'self'; frame-ancestors ${framedBy}`

// The headers of every page, whether or not it may be framed. Its address may be a secret, so no referrer is sent.
export const privatePageHeaders = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

// The headers of a page that no other page may frame.
export const pageHeaders = (policy = pagePolicy()): Record<string, string> => ({
  'content-security-policy': policy,
  'x-frame-options': 'DENY',
  ...privatePageHeaders,
})
