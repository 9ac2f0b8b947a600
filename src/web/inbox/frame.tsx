import { raw } from 'hono/html'
import type { PropsWithChildren } from 'hono/jsx'

// The frame of the inbox: the support pages' looks, and its own.
export const Frame = ({ title, children }: PropsWithChildren<{ title: string }>) => (
  <>
    {raw('<!doctype html>')}
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{title} · Tollgate inbox</title>
        <link rel="stylesheet" href="/support/support.css" />
        <link rel="stylesheet" href="/inbox/inbox.css" />
      </head>
      <body>
        <header class="top">
          <p class="place">Tollgate inbox</p>
          <nav aria-label="Places">
            <a href="/inbox">Refresh</a>
            <a href="/support">Support</a>
          </nav>
        </header>
        <main>{children}</main>
      </body>
    </html>
  </>
)
