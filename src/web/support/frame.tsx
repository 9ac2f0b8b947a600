import { type PropsWithChildren, raw, written } from '../../core/markup/jsx-runtime.ts'
import { withoutTurns } from '../../core/text.ts'

// No script runs here, nothing is loaded from elsewhere, and nothing is kept: it tells who pays.
export const supportHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

type DocumentProps = PropsWithChildren<{ title: string; styles?: readonly string[] }>

// A page for whoever runs the gateway; `styles` come after the common ones. Most of it is text of customers, shops and
// providers, so bidi controls are removed here, once for all pages.
export const Document = ({ title, styles = [], children }: DocumentProps) => (
  <>
    {raw('<!doctype html>')}
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{withoutTurns(title)}</title>
        {['/support/support.css', ...styles].map(href => (
          <link rel="stylesheet" href={href} />
        ))}
      </head>
      <body>{raw(withoutTurns(written(children)))}</body>
    </html>
  </>
)

type FrameProps = PropsWithChildren<{ title: string; word?: string; closed?: boolean }>

// The frame of every support page; `closed` leaves out the search, for who may not look.
export const Frame = ({ title, word = '', closed, children }: FrameProps) => (
  <Document title={`${title} · Tollgate support`}>
    <header>
      <p class="place">Tollgate support</p>
      {!closed && <Search word={word} />}
    </header>
    <main>{children}</main>
  </Document>
)

const Search = ({ word }: { word: string }) => (
  <form action="/support" method="get" role="search">
    <label for="q">Reference or invoice id</label>
    <div class="search">
      <input
        id="q"
        name="q"
        type="search"
        value={word}
        autocomplete="off"
        spellcheck={false}
        maxlength={200}
      />
      <button type="submit">Look up</button>
    </div>
  </form>
)
