import { readFileSync } from 'node:fs'
import { Hono } from 'hono'
import { nameMerchants } from '../../actions/merchants/nameMerchants.ts'
import { explainPayment, findByWord } from '../../actions/payments/explainPayment.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Ctx, Env } from '../http/context.ts'
import { isRefusal } from '../http/errors.ts'
import type { OperatorDoor } from '../http/operatorDoor.ts'
import { supportHeaders } from './frame.tsx'
import { guard } from './guard.tsx'
import { AskPage, ChoicePage, NothingPage, UnreachablePage } from './pages.tsx'
import { PaymentPage } from './paymentPage.tsx'

type SupportOptions = { runtime: Pick<Runtime, 'db' | 'clock'>; door: OperatorDoor }

// For whoever answers the customer's call: a reference in, the whole story of the payment out. To be mounted at
// /support. It only reads.
export function supportRoutes({ runtime, door }: SupportOptions) {
  const routes = new Hono<Env>({ strict: false })
  const css = readFileSync(new URL('./support.css', import.meta.url), 'utf8')
  routes.use(guard(supportHeaders, door))
  routes.get('/support.css', c => c.body(css, 200, { 'content-type': 'text/css; charset=utf-8' }))
  routes.get('/', c => lookUp(runtime, c))
  return routes
}

async function lookUp({ db, clock }: SupportOptions['runtime'], c: Ctx) {
  const word = c.req.query('q')?.trim() ?? ''
  if (word === '') return c.html(<AskPage />)
  try {
    const found = await findByWord(db, word, c.req.query('merchant') || undefined)
    const [payment] = found
    if (!payment) return c.html(<NothingPage word={word} />, 404)
    if (found.length > 1) return c.html(<ChoicePage word={word} choices={await nameMerchants(db, found)} />)
    return c.html(<PaymentPage word={word} explained={await explainPayment(db, payment, clock())} />)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return c.html(<UnreachablePage word={word} />, 503, { 'retry-after': '5' })
  }
}
