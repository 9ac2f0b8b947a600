import { type Context, Hono } from 'hono'
import { type Card, type Charge, decideCharge, findCharge, showCard } from '../store/sandboxCharges.ts'
import { CardPage, OverPage } from './cardPages.tsx'
import { cardFields, readCard } from './cards.ts'
import { stateAt } from './charge.ts'
import type { SandboxContext, SandboxEnv } from './context.ts'
import type { EndingName } from './endings.ts'
import { ownForms, readForm, tokenFor } from './form.ts'
import { linkIn, lostPage, pageHeaders, speechOf } from './page.tsx'
import { isReference } from './request.ts'
import { SecurePage } from './securePage.tsx'

const failingCode = '000000'

// The simulated provider's own card page. What is typed here never reaches the gateway.
export function cardRoutes(context: SandboxContext) {
  const { db, clock, pace, callbacks } = context
  const app = new Hono<SandboxEnv>()

  app.get('/:ref', async c => {
    const charge = await chargeByCard(c)
    if (!charge) return lostPage(c)
    return isOpen(charge) ? c.html(<CardPage {...propsOf(c, charge)} />, 200, pageHeaders) : over(c, charge)
  })

  app.post('/:ref', ...ownForms(context), async c => {
    const charge = await chargeByCard(c)
    if (!charge) return lostPage(c)
    if (!isOpen(charge)) return leave(c, charge)
    const form = await readForm(c, cardFields)
    const read = readCard(form, clock())
    if ('errors' in read) {
      const page = <CardPage {...propsOf(c, charge)} form={form} errors={read.errors} />
      return c.html(page, 422, pageHeaders)
    }
    if (read.ending !== '3ds') return decide(c, charge, read.ending, read.card)
    await showCard(db, charge.reference, read.card)
    return c.redirect(linkIn(speechOf(c), `/sandbox/card/${charge.reference}/3ds`), 303)
  })

  app.get('/:ref/3ds', async c => {
    const charge = await chargeByCard(c)
    if (!charge) return lostPage(c)
    if (!isOpen(charge)) return over(c, charge)
    if (!charge.card_last4) return c.redirect(linkIn(speechOf(c), `/sandbox/card/${charge.reference}`), 303)
    return c.html(<SecurePage {...propsOf(c, charge)} />, 200, pageHeaders)
  })

  app.post('/:ref/3ds', ...ownForms(context), async c => {
    const charge = await chargeByCard(c)
    if (!charge) return lostPage(c)
    if (!isOpen(charge)) return leave(c, charge)
    if (!charge.card_last4) return c.redirect(linkIn(speechOf(c), `/sandbox/card/${charge.reference}`), 303)
    const { code } = await readForm(c, ['code'])
    if (code === '') return c.html(<SecurePage {...propsOf(c, charge)} isMissing />, 422, pageHeaders)
    return decide(c, charge, code === failingCode ? 'card_not_authenticated' : 'card_approved')
  })

  app.post('/:ref/cancel', ...ownForms(context), async c => {
    const charge = await chargeByCard(c)
    if (!charge) return lostPage(c)
    return isOpen(charge) ? decide(c, charge, 'card_left') : leave(c, charge)
  })

  const propsOf = (c: Context, charge: Charge) => ({
    charge,
    speech: speechOf(c),
    token: tokenFor(context, charge.reference),
  })

  async function chargeByCard(c: Context): Promise<Charge | undefined> {
    const reference = c.req.param('ref') ?? ''
    const charge = isReference(reference) ? await findCharge(db, reference) : undefined
    return charge?.method === 'card' ? charge : undefined
  }

  const isOpen = (charge: Charge) => !charge.decided && stateAt(charge, clock(), pace).status === 'PENDING'

  // A double click decides once and ends where the first click ends.
  async function decide(c: Context, charge: Charge, ending: EndingName, card?: Card) {
    const decided = await decideCharge(db, charge.reference, ending, clock(), card)
    if (decided) callbacks.plan(decided)
    return leave(c, charge)
  }

  function over(c: Context, charge: Charge) {
    const state = stateAt(charge, clock(), pace)
    return c.html(<OverPage charge={charge} speech={speechOf(c)} state={state} />, 200, pageHeaders)
  }

  return app
}

const leave = (c: Context, charge: Charge) => c.redirect(charge.return_url, 303)
