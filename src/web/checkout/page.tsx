import { raw } from 'hono/html'
import type { PropsWithChildren } from 'hono/jsx'

type PageProps = PropsWithChildren<{ title: string; test?: boolean; requestId?: string }>

// The frame of every page that a customer sees.
export const Page = ({ title, test, requestId, children }: PageProps) => (
  <>
    {raw('<!doctype html>')}
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{title}</title>
        <link rel="stylesheet" href="/public/checkout.css" />
      </head>
      <body>
        {test && <p class="test">Test mode: no real money moves</p>}
        <main>{children}</main>
        <footer>
          {requestId && <p>Request {requestId}</p>}
          <p>Secured by Tollgate</p>
        </footer>
      </body>
    </html>
  </>
)
