import { readFileSync } from 'node:fs'
import { Hono } from 'hono'
import type { Ctx, Env } from '../http/context.ts'
import { isRefusal } from '../http/errors.ts'
import type { OperatorDoor } from '../http/operatorDoor.ts'
import { pressed, redeliver, sendReceipt } from './buttons.tsx'
import { enterRoute } from './enter.tsx'
import { supportHeaders } from './frame.tsx'
import { guard } from './guard.tsx'
import { AskPage, UnreachablePage } from './pages.tsx'
import { type SupportRuntime, showPayment } from './show.tsx'

const css = readFileSync(new URL('./support.css', import.meta.url), 'utf8')

export type SupportOptions = { runtime: SupportRuntime; door: OperatorDoor }

// For whoever answers the customer's call: a reference in, the whole story of the payment out, and two buttons that tell
// it again. To be mounted at /support.
export function supportRoutes({ runtime, door }: SupportOptions) {
  const routes = new Hono<Env>({ strict: false })
  // Before the guard: the page that refuses has these looks, too.
  routes.get('/support.css', c =>
    c.body(css, 200, { ...supportHeaders, 'content-type': 'text/css; charset=utf-8' }),
  )
  routes.get('/enter', enterRoute(runtime, door))
  routes.use(guard(supportHeaders, door))
  routes.get('/', c => lookUp(runtime, c))
  routes.post('/receipt', pressed(runtime, door, sendReceipt))
  routes.post('/redeliver', pressed(runtime, door, redeliver))
  return routes
}

// What a button leads to when it has done its work.
const doneWords = new Map([
  ['receipt', 'The receipt is on its way again.'],
  ['told', 'The notification is sent again now. Reload this page to see what comes of it.'],
  ['already', 'That was done a moment ago. It was not done twice.'],
])

async function lookUp(runtime: SupportRuntime, c: Ctx) {
  const word = c.req.query('q')?.trim() ?? ''
  if (word === '') return c.html(<AskPage />)
  const words = doneWords.get(c.req.query('done') ?? '')
  try {
    return await showPayment(
      runtime,
      c,
      word,
      c.req.query('merchant') || undefined,
      words ? { words } : undefined,
    )
  } catch (error) {
    if (!isRefusal(error)) throw error
    return c.html(<UnreachablePage word={word} />, 503, { 'retry-after': '5' })
  }
}
