import { type Context, Hono } from 'hono'
import { parsePhone } from '../core/phone.ts'
import { type Charge, decideCharge, findCharge, listUndecided } from '../store/sandboxCharges.ts'
import { waitsForPerson } from './charge.ts'
import type { SandboxContext, SandboxEnv } from './context.ts'
import type { EndingName } from './endings.ts'
import { ownForms, readForm, tokenFor } from './form.ts'
import { linkIn, lostPage, pageHeaders, speechOf } from './page.tsx'
import { PhonePage, PromptPage } from './phonePages.tsx'
import { isReference } from './request.ts'

const listedMs = 10 * 60_000
const maxListed = 20

const decisions = new Map<string, EndingName>([
  ['approve', 'person_approved'],
  ['decline', 'person_declined'],
])

// The test phone: what a customer would see on the wallet's own screen.
export function phoneRoutes(context: SandboxContext) {
  const { db, clock, pace, callbacks } = context
  const app = new Hono<SandboxEnv>()

  app.get('/', async c => {
    const typed = c.req.query('number')?.trim().slice(0, 60)
    const phone = typed === undefined ? undefined : parsePhone(typed)
    const now = clock()
    const since = new Date(now.getTime() - listedMs)
    const charges = phone ? await listUndecided(db, phone.slice(1), since, maxListed) : undefined
    const prompts = charges?.filter(charge => waitsForPerson(charge, now, pace))
    const http = typed !== undefined && !phone ? 422 : 200
    return c.html(<PhonePage speech={speechOf(c)} typed={typed} prompts={prompts} />, http, pageHeaders)
  })

  app.get('/:ref', async c => {
    const charge = await chargeOnPhone(c)
    if (!charge) return lostPage(c)
    const token = tokenFor(context, charge.reference)
    const page = <PromptPage charge={charge} speech={speechOf(c)} token={token} now={clock()} pace={pace} />
    return c.html(page, 200, pageHeaders)
  })

  app.post('/:ref', ...ownForms(context), async c => {
    const charge = await chargeOnPhone(c)
    if (!charge) return lostPage(c)
    const now = clock()
    const { decision } = await readForm(c, ['decision'])
    const decided = waitsForPerson(charge, now, pace) && decisions.get(decision)
    const news = decided && (await decideCharge(db, charge.reference, decided, now))
    if (news) callbacks.plan(news)
    return c.redirect(linkIn(speechOf(c), `/sandbox/phone/${charge.reference}`), 303)
  })

  async function chargeOnPhone(c: Context): Promise<Charge | undefined> {
    const reference = c.req.param('ref') ?? ''
    const charge = isReference(reference) ? await findCharge(db, reference) : undefined
    return charge?.method === 'card' ? undefined : charge
  }

  return app
}
