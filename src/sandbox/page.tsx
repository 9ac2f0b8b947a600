import type { Context } from 'hono'
import { raw } from 'hono/html'
import type { PropsWithChildren } from 'hono/jsx'
import { formatMoney } from '../core/money.ts'
import type { Charge } from '../store/sandboxCharges.ts'

// Loads from us alone, shows in no frame, and tells nobody its address: that opens the charge.
export const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

// The frame of every page of the simulated provider.
export const Page = ({ title, children }: PropsWithChildren<{ title: string }>) => (
  <>
    {raw('<!doctype html>')}
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{title}</title>
        <link rel="stylesheet" href="/sandbox/public/sandbox.css" />
      </head>
      <body>
        <header class="test">
          <p>Simulated provider: no real money moves</p>
        </header>
        <main>{children}</main>
      </body>
    </html>
  </>
)

export const Notice = ({ title, children, back }: PropsWithChildren<{ title: string; back?: string }>) => (
  <Page title={title}>
    <section class="card">
      <h1>{title}</h1>
      {children}
    </section>
    {back && <WayBack to={back} />}
  </Page>
)

export const WayBack = ({ to }: { to: string }) => (
  <a class="button" href={to}>
    Back to the checkout
  </a>
)

export const money = ({ amount, currency }: Pick<Charge, 'amount' | 'currency'>) =>
  `${currency} ${formatMoney(amount)}`

export const lostPage = (c: Context) =>
  c.html(
    <Notice title="There is nothing to pay at this address">
      <p>Check that the link is complete, or start again from the checkout.</p>
    </Notice>,
    404,
    pageHeaders,
  )

export const brokenPage = (c: Context, http: 500 | 503) =>
  c.html(
    <Notice title="This page does not work right now">
      <p>
        The simulated provider cannot reach its records. Nothing has changed. Reload the page in a moment.
      </p>
    </Notice>,
    http,
    pageHeaders,
  )

export const tooLargePage = (c: Context) =>
  c.html(
    <Notice title="That was too much">
      <p>The form was larger than anyone would type. Nothing has changed. Go back and try again.</p>
    </Notice>,
    413,
    pageHeaders,
  )
