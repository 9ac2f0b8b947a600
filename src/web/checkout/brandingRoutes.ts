import { Hono } from 'hono'
import { showLogo } from '../../actions/merchants/logos.ts'
import { accentCss, accentFault } from '../../core/merchant/accent.ts'
import { databaseDeadline } from '../../runtime/deadline.ts'
import { cacheControlOf, digestOf } from '../documents/documents.ts'
import { addressOf } from '../http/apiRequest.ts'
import { type Ctx, type Env, errorContext, respond } from '../http/context.ts'
import { notFoundAnswer } from '../http/errors.ts'
import type { CheckoutOptions } from './open.tsx'

// A picture that is opened directly must not run or load anything.
const headers = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

// The stylesheet of a shop's colour, and its logo.
export function brandingRoutes({ runtime, trustedProxies }: CheckoutOptions) {
  const app = new Hono<Env>()

  app.get('/accent/:file', (c: Ctx) => {
    runtime.limits.visit(addressOf(c.env.incoming, trustedProxies))
    const [, colour] = /^([0-9a-f]{6})\.css$/.exec(c.req.param('file') ?? '') ?? []
    if (!colour || accentFault(`#${colour}`)) return nothingHere(c)
    const css = accentCss(`#${colour}`)
    const cacheControl = cacheControlOf(new URL(c.req.url).search, digestOf(Buffer.from(css)))
    return c.body(css, 200, {
      ...headers,
      'content-type': 'text/css; charset=utf-8',
      'cache-control': cacheControl,
    })
  })

  app.get('/logos/:merchant/:file', async (c: Ctx) => {
    const address = addressOf(c.env.incoming, trustedProxies)
    runtime.limits.visit(address)
    const db = runtime.db.withDeadline(databaseDeadline())
    const logo = await showLogo(db, c.req.param('merchant') ?? '', c.req.path)
    if (!logo) {
      runtime.limits.unknownToken(address)
      return nothingHere(c)
    }
    const type = logo.type === 'png' ? 'image/png' : 'image/jpeg'
    return c.body(new Uint8Array(logo.bytes), 200, {
      ...headers,
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable', // its address has a digest of its content
    })
  })
  return app
}

const nothingHere = (c: Ctx) => respond(c, notFoundAnswer(errorContext(c)))
