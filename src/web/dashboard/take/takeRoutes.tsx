import { readFileSync } from 'node:fs'
import { requireOriginal } from '../../../actions/installation/requireOriginal.ts'
import { receiptTo } from '../../../actions/messages/receipts.ts'
import type { Checkout } from '../../../actions/payments/openCheckout.ts'
import {
  askPhone,
  type AskedPhone,
  cancelTaken,
  followTaken,
  takenToday,
} from '../../../actions/takenPayments/followTaken.ts'
import {
  takePayment,
  type TakenInput,
  takingTerms,
  type Taker,
} from '../../../actions/takenPayments/takePayment.ts'
import { isTakenForm } from '../../../core/payment/takenPayment.ts'
import { parseReference } from '../../../core/payment/reference.ts'
import { newTakenForm } from '../../../runtime/ids.ts'
import { checkoutUrl } from '../../api/initiate.tsx'
import { versionOf } from '../../checkout/view.ts'
import { type Ctx, plainResponse } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import { problemPage } from '../frame/problems.tsx'
import type { MerchantRoute, MerchantVisit, OwnRoute } from '../route.ts'
import { type FormProblem, TakePage } from './takePage.tsx'
import { TakenPage } from './takenPage.tsx'

const script = readFileSync(new URL('./counter.js', import.meta.url), 'utf8')
const scriptHeaders = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'private, max-age=300',
  'x-content-type-options': 'nosniff',
}

export const takeScripts: readonly OwnRoute[] = [
  { method: 'get', path: '/counter.js', handle: c => c.body(script, 200, scriptHeaders) },
]

// Taking a payment at the counter. It is all that a cashier sees.
export const takeRoutes = (deps: AreaDeps): MerchantRoute[] => {
  const route = (method: 'get' | 'post', path: string, handle: Handle): MerchantRoute => ({
    method,
    path,
    permission: 'take.payment',
    handle: (c, visit) => handle(deps, c, visit),
  })
  return [
    route('get', '/take', (_, c, visit) => showForm(deps, c, visit, emptyInput(c))),
    route('post', '/take', submitForm),
    route('get', '/take/:reference', showTaken),
    route('get', '/take/:reference/state', sendState),
    route('post', '/take/:reference/ask', askAgain),
    route('post', '/take/:reference/cancel', cancelOne),
  ]
}

type Handle = (deps: AreaDeps, c: Ctx, visit: MerchantVisit) => Promise<Response>

const takerOf = ({ merchant, mode, signedIn, actor }: MerchantVisit): Taker => ({
  merchant_id: merchant.merchant_id,
  mode,
  user_id: signedIn.user.user_id,
  actor,
})

// A cashier who is bound to one outlet sees what was taken there, everybody else what they took themselves.
const dayOf = ({ runtime }: AreaDeps, visit: MerchantVisit) =>
  takenToday(
    visit.db,
    takerOf(visit),
    visit.outlets?.length === 1 ? visit.outlets[0] : undefined,
    visit.now,
    runtime.timeZone,
  )

const emptyInput = (c: Ctx): TakenInput => ({
  form_id: newTakenForm(),
  total: '',
  currency: '',
  phone: '',
  email: '',
  outlet: c.req.query('outlet') ?? '',
  description: '',
})

async function showForm(
  deps: AreaDeps,
  c: Ctx,
  visit: MerchantVisit,
  input: TakenInput,
  problem?: FormProblem,
  http = 200,
) {
  const [terms, day] = await Promise.all([
    takingTerms(visit.db, visit.merchant.merchant_id, visit.outlets),
    dayOf(deps, visit),
  ])
  if (!terms) return problemPage(c, visit.lang, 'notFound')
  const isWithoutOutlet = visit.outlets !== null && terms.outlets.length === 0
  const shown = problem ?? (isWithoutOutlet ? { refused: 'no_outlet' as const } : undefined)
  const page = (
    <TakePage
      visit={visit}
      terms={terms}
      input={input}
      problem={shown}
      day={day}
      timeZone={deps.runtime.timeZone}
    />
  )
  return sendDashboardPage(c, page, http)
}

const refusedStatus = {
  too_fast: 429,
  too_many_open: 429,
  closed: 409,
  not_allowed: 403,
  stale: 409,
} as const

async function submitForm(deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const { field } = visit
  const input: TakenInput = {
    form_id: field('form_id'),
    total: field('total'),
    currency: field('currency'),
    phone: field('phone'),
    email: field('email'),
    outlet: field('outlet'),
    description: field('description'),
  }
  const again = { ...input, form_id: newTakenForm() } // a form that was refused is a new one
  if (!isTakenForm(input.form_id)) return showForm(deps, c, visit, again, { refused: 'stale' }, 409)
  requireOriginal(deps.runtime, takerOf(visit).mode)
  const taken = await takePayment(visit.db, takerOf(visit), input, visit.now)
  if (taken.done === 'fault') return showForm(deps, c, visit, input, { field: taken.field }, 422)
  if (taken.done === 'used') return showForm(deps, c, visit, again, { usedBy: taken.tx_reference }, 409)
  if (taken.done !== 'taken')
    return showForm(deps, c, visit, again, { refused: taken.done }, refusedStatus[taken.done])
  const asked =
    taken.isNew && input.phone.trim() !== '' ? await ask(deps, visit, taken.tx_reference, 1) : undefined
  return toTaken(c, visit, taken.tx_reference, asked)
}

const toTaken = (c: Ctx, { base }: MerchantVisit, tx_reference: string, asked: AskedPhone | undefined) =>
  c.redirect(
    `${base}/take/${tx_reference}${asked === undefined || asked === 'asked' ? '' : `?asked=${asked}`}`,
    303,
  )

async function ask({ runtime }: AreaDeps, visit: MerchantVisit, tx_reference: string, number: number) {
  const checkout = await followTaken(runtime, visit.db, takerOf(visit), tx_reference)
  return checkout && askPhone(runtime, checkout, number, visit.lang)
}

// The payment of the address, if this user took it.
async function takenOf({ runtime }: AreaDeps, c: Ctx, visit: MerchantVisit): Promise<Checkout | undefined> {
  const reference = parseReference(c.req.param('reference') ?? '')
  return reference === undefined ? undefined : followTaken(runtime, visit.db, takerOf(visit), reference)
}

async function showTaken(deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const checkout = await takenOf(deps, c, visit)
  if (!checkout) return problemPage(c, visit.lang, 'notFound')
  const { runtime, messengers } = deps
  const isPaid = checkout.stage === 'paid'
  const asked = (['no_method', 'refused'] as const).find(one => one === c.req.query('asked'))
  const page = (
    <TakenPage
      visit={visit}
      checkout={checkout}
      link={checkoutUrl(runtime.baseUrl(), checkout.tx_token)}
      timeZone={runtime.timeZone}
      receiptTo={isPaid && messengers ? await receiptTo(visit.db, checkout, messengers.carries) : []}
      day={isPaid ? await dayOf(deps, visit) : undefined}
      asked={asked}
    />
  )
  return sendDashboardPage(c, page)
}

async function sendState(deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const checkout = await takenOf(deps, c, visit)
  if (!checkout) return problemPage(c, visit.lang, 'notFound')
  return plainResponse(c, 200, versionOf({ checkout }), {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
}

async function askAgain(deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const checkout = await takenOf(deps, c, visit)
  if (!checkout) return problemPage(c, visit.lang, 'notFound')
  const number = /^\d{1,2}$/.test(visit.field('number')) ? Number(visit.field('number')) : 0
  const asked = await askPhone(deps.runtime, checkout, number, visit.lang)
  return toTaken(c, visit, checkout.tx_reference, asked)
}

async function cancelOne(deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const checkout = await takenOf(deps, c, visit)
  if (!checkout) return problemPage(c, visit.lang, 'notFound')
  await cancelTaken(deps.runtime, visit.db, takerOf(visit), checkout.tx_reference, visit.now)
  return toTaken(c, visit, checkout.tx_reference, undefined)
}
