import { type Context, Hono } from 'hono'
import { type Card, type Charge, decideCharge, showCard } from '../store/sandboxCharges.ts'
import { CardPage, ClosedChargePage, SecurePage } from './cardPages.tsx'
import { type CardErrors, cardFields, type CardForm, readCard } from './cards.ts'
import { callbacksOf, type EndingName, stateAt } from './charge.ts'
import {
  languageOf,
  linkIn,
  notFoundPage,
  ownForms,
  readForm,
  type SandboxContext,
  type SandboxEnv,
  sandboxRedirect,
  sendSandboxPage,
  tokenFor,
} from './page.tsx'
import { chargeOf } from './provider.ts'

const failingCode = '000000'

// The card page of the simulated provider. Its input never reaches the gateway.
export function cardRoutes(context: SandboxContext) {
  const { db, clock, timeScale, callbacks } = context
  const app = new Hono<SandboxEnv>()
  const forms = ownForms(context)
  app.get(
    '/:ref',
    onOpenCharge(showStatus, (c, charge) => showForm(c, charge)),
  )
  app.post('/:ref', ...forms, onOpenCharge(leave, submitCard))
  app.get('/:ref/3ds', onOpenCharge(showStatus, withCard(showSecurePage)))
  app.post('/:ref/3ds', ...forms, onOpenCharge(leave, withCard(submitCode)))
  app.post(
    '/:ref/cancel',
    ...forms,
    onOpenCharge(leave, (c, charge) => decide(c, charge, 'card_left')),
  )
  return app

  // Finds the charge of the address. `answerClosed` answers if the charge is decided or expired.
  function onOpenCharge(answerClosed: Answer, answer: Answer) {
    return async (c: Context) => {
      const charge = await chargeOf(c, db)
      if (charge?.method !== 'card') return notFoundPage(c)
      const isOpen = !charge.decided && stateAt(charge, clock(), timeScale).status === 'PENDING'
      return isOpen ? answer(c, charge) : answerClosed(c, charge)
    }
  }

  async function submitCard(c: Context, charge: Charge) {
    const form = await readForm(c, cardFields)
    const read = readCard(form, clock())
    if ('errors' in read) return showForm(c, charge, { form, errors: read.errors })
    if (read.ending !== '3ds') return decide(c, charge, read.ending, read.card)
    await showCard(db, charge.reference, read.card)
    return sandboxRedirect(c, linkIn(languageOf(c), `/sandbox/card/${charge.reference}/3ds`))
  }

  async function submitCode(c: Context, charge: Charge) {
    const { code } = await readForm(c, ['code'])
    if (code === '') return sendSandboxPage(c, <SecurePage {...propsOf(c, charge)} isMissing />, 422)
    return decide(c, charge, code === failingCode ? 'card_not_authenticated' : 'card_approved')
  }

  // A second click changes nothing and ends at the same page.
  async function decide(c: Context, charge: Charge, ending: EndingName, card?: Card) {
    const decided = await decideCharge(db, charge.reference, ending, clock(), card)
    if (decided) callbacks.schedule(decided, callbacksOf(decided, timeScale))
    return leave(c, charge)
  }

  function showForm(c: Context, charge: Charge, faults?: { form: CardForm; errors: CardErrors }) {
    return sendSandboxPage(c, <CardPage {...propsOf(c, charge)} {...faults} />, faults ? 422 : 200)
  }

  function showSecurePage(c: Context, charge: Charge) {
    return sendSandboxPage(c, <SecurePage {...propsOf(c, charge)} />)
  }

  function showStatus(c: Context, charge: Charge) {
    const state = stateAt(charge, clock(), timeScale)
    return sendSandboxPage(c, <ClosedChargePage charge={charge} language={languageOf(c)} state={state} />)
  }

  function propsOf(c: Context, charge: Charge) {
    return { charge, language: languageOf(c), token: tokenFor(context, charge.reference) }
  }
}

type Answer = (c: Context, charge: Charge) => Response | Promise<Response>

// The 3-D Secure page comes after the card form.
const withCard =
  (answer: Answer): Answer =>
  (c, charge) =>
    charge.card_last4
      ? answer(c, charge)
      : sandboxRedirect(c, linkIn(languageOf(c), `/sandbox/card/${charge.reference}`))

const leave: Answer = (c, charge) => sandboxRedirect(c, charge.return_url)
