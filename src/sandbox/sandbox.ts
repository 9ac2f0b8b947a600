import { readFileSync } from 'node:fs'
import { type Context, Hono } from 'hono'
import { etag } from 'hono/etag'
import { Unavailable } from '../core/interface/refusal.ts'
import type { Db } from '../store/db.ts'
import { createCallbacks } from './callbacks.ts'
import { cardRoutes } from './card.tsx'
import { allPlaces, notFoundPage, sandboxBrokenPage, type SandboxEnv } from './page.tsx'
import { phoneRoutes } from './phone.tsx'
import { providerRoutes } from './provider.ts'

const shared = ['tokens', 'base', 'components'].map(name => `../core/markup/${name}.css`)
const css = [...shared, './public/sandbox.css']
  .map(file => readFileSync(new URL(file, import.meta.url), 'utf8'))
  .join('\n')

type SandboxOptions = {
  db: Db
  clock: () => Date
  key: string // authenticates the gateway at the provider's API
  formKey: Buffer // signs the form tokens of the pages
  baseUrl: string // of the pages
  isForThisMachineOnly?: boolean // then the test phone lists the prompts of all numbers
  timeScale?: number // a factor for all waiting times
  log?: { error(fields: object, message: string): void }
}

// A simulated provider that moves no money. It has no access to payments: it and the gateway communicate only by HTTP,
// like separate companies. The routes are mounted at /sandbox.
export function createSandbox({ db, log, ...options }: SandboxOptions) {
  const { clock, timeScale = 1, isForThisMachineOnly = false } = options
  const callbacks = createCallbacks(clock)
  const quotaDb = db.withQuota('sandbox') // the pages are public, so they have a separate connection quota
  const context = { ...options, db: quotaDb, timeScale, isForThisMachineOnly, callbacks }
  const app = new Hono<SandboxEnv>({ strict: false })

  app.onError((error, c) => {
    const isDown = error instanceof Unavailable
    if (!isDown) log?.error({ error: { message: error.message, stack: error.stack } }, 'bug in the sandbox')
    const http = isDown ? 503 : 500
    return c.req.path.startsWith('/sandbox/provider/')
      ? c.json({ code: 'INTERNAL_PROCESSING_ERROR' }, http)
      : sandboxBrokenPage(c, http)
  })
  if (isForThisMachineOnly)
    app.use((c: Context, next) => {
      c.set('places', allPlaces)
      return next()
    })
  app.route('/provider', providerRoutes(context))
  app.route('/phone', phoneRoutes(context))
  app.route('/card', cardRoutes(context))
  app.get('/public/sandbox.css', etag(), c =>
    c.body(css, 200, {
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    }),
  )
  app.all('*', notFoundPage)
  return { app, stop: callbacks.stop }
}
