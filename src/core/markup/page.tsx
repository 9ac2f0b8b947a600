import { formTokenField } from '../formOrigin.ts'
import { type Child, type PropsWithChildren, raw } from './jsx-runtime.ts'

// The parts that all pages share: checkout, home, support, inbox, sandbox and documentation. Their looks are in
// tokens.css and base.css.

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

type NoticeProps = PropsWithChildren<{ title: string; tone?: 'warn' | 'bad' }>

// The card of an error page, and of a page with a single statement.
export const NoticeCard = ({ title, tone, children }: NoticeProps) => (
  <section class={tone ? `card ${tone}` : 'card'}>
    <h1>{title}</h1>
    {children}
  </section>
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
