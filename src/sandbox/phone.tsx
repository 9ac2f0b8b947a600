import { type Context, Hono } from 'hono'
import { parsePhone } from '../core/phone.ts'
import { type Charge, decideCharge, listAllUndecided, listUndecided } from '../store/sandboxCharges.ts'
import { callbacksOf, chargeAnswer, type EndingName, stateAt, waitsForPerson } from './charge.ts'
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
import { AnsweredPage, PhonePage, PromptPage } from './phonePages.tsx'
import { chargeOf } from './provider.ts'

const listedMs = 10 * 60_000 // how long a prompt is listed
const maxListed = 20

const decisions = new Map<string, EndingName>([
  ['approve', 'person_approved'],
  ['decline', 'person_declined'],
])

// The test phone. It shows what a customer would see in the menu of a wallet.
export function phoneRoutes(context: SandboxContext) {
  const { db, clock, timeScale, callbacks, isForThisMachineOnly } = context
  const app = new Hono<SandboxEnv>()

  app.get('/', async c => {
    const input = c.req.query('number')?.trim().slice(0, 60)
    const phone = input === undefined ? undefined : parsePhone(input)
    const now = clock()
    const since = new Date(now.getTime() - listedMs)
    const charges = phone
      ? await listUndecided(db, phone.slice(1), since, maxListed)
      : isForThisMachineOnly && (await listAllUndecided(db, since, maxListed))
    const prompts = charges && charges.filter(charge => waitsForPerson(charge, now, timeScale))
    const isWrong = input !== undefined && !phone
    const page = (
      <PhonePage
        language={languageOf(c)}
        now={now}
        input={input}
        isWrong={isWrong}
        listsAll={isForThisMachineOnly}
        prompts={prompts || undefined}
        tokenOf={reference => tokenFor(context, reference)}
      />
    )
    return sendSandboxPage(c, page, isWrong ? 422 : 200)
  })

  app.get('/:ref', async c => {
    const charge = await chargeOnPhone(c)
    return charge ? showCharge(c, charge) : notFoundPage(c)
  })

  app.post('/:ref', ...ownForms(context), async c => {
    const charge = await chargeOnPhone(c)
    if (!charge) return notFoundPage(c)
    const now = clock()
    const { decision, pin, asks_pin } = await readForm(c, ['decision', 'pin', 'asks_pin'])
    const isOpen = waitsForPerson(charge, now, timeScale)
    // The PIN is neither checked nor stored.
    if (isOpen && decision === 'approve' && asks_pin && !pin) return showCharge(c, charge, true)
    const decided = isOpen && decisions.get(decision)
    const changed = decided && (await decideCharge(db, charge.reference, decided, now))
    if (changed) callbacks.schedule(changed, callbacksOf(changed, timeScale))
    return sandboxRedirect(c, linkIn(languageOf(c), `/sandbox/phone/${charge.reference}`))
  })

  function showCharge(c: Context, charge: Charge, isPinMissing = false) {
    const now = clock()
    const props = { language: languageOf(c), charge, now }
    if (waitsForPerson(charge, now, timeScale)) {
      const token = tokenFor(context, charge.reference)
      return sendSandboxPage(
        c,
        <PromptPage {...props} token={token} isPinMissing={isPinMissing} />,
        isPinMissing ? 422 : 200,
      )
    }
    const state = stateAt(charge, now, timeScale)
    const { financialTransactionId } = chargeAnswer(charge, state)
    return sendSandboxPage(c, <AnsweredPage {...props} state={state} transaction={financialTransactionId} />)
  }

  async function chargeOnPhone(c: Context): Promise<Charge | undefined> {
    const charge = await chargeOf(c, db)
    return charge?.method === 'card' ? undefined : charge
  }

  return app
}
