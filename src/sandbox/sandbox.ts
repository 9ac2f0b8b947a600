import { readFileSync } from 'node:fs'
import { Hono } from 'hono'
import { Unavailable } from '../core/interface/refusal.ts'
import type { Db } from '../store/db.ts'
import { createCallbacks } from './callbacks.ts'
import { cardRoutes } from './card.tsx'
import type { SandboxEnv } from './context.ts'
import { brokenPage, lostPage } from './page.tsx'
import { phoneRoutes } from './phone.tsx'
import { providerRoutes } from './provider.ts'

const css = readFileSync(new URL('./public/sandbox.css', import.meta.url), 'utf8')

type SandboxOptions = {
  db: Db
  clock: () => Date
  key: string // what the gateway shows at the provider's interface
  formKey: Buffer // signs the form tokens of the pages
  baseUrl: string // of the pages
  pace?: number // all waiting times are multiplied by it
  log?: { error(fields: object, words: string): void }
}

// A provider that moves no money. It is another company's house within our walls: it knows nothing of payments, and
// the gateway knows it by its wire alone. To be mounted at /sandbox.
export function createSandbox({ db, clock, key, formKey, baseUrl, pace = 1, log }: SandboxOptions) {
  const callbacks = createCallbacks(clock, pace)
  const context = { db: db.share('sandbox'), clock, key, formKey, baseUrl, pace, callbacks } // anybody may look at its pages
  const app = new Hono<SandboxEnv>({ strict: false })

  app.onError((error, c) => {
    const isDown = error instanceof Unavailable
    if (!isDown) log?.error({ error: { message: error.message, stack: error.stack } }, 'bug in the sandbox')
    const http = isDown ? 503 : 500
    return c.req.path.startsWith('/sandbox/provider/')
      ? c.json({ code: 'INTERNAL_PROCESSING_ERROR' }, http)
      : brokenPage(c, http)
  })
  app.route('/provider', providerRoutes(context))
  app.route('/phone', phoneRoutes(context))
  app.route('/card', cardRoutes(context))
  app.get('/public/sandbox.css', c =>
    c.body(css, 200, {
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=3600',
      'x-content-type-options': 'nosniff',
    }),
  )
  app.all('*', lostPage)
  return { app, stop: callbacks.stop }
}
