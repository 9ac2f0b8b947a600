import { openCheckout } from '../../actions/payments/openCheckout.ts'
import { pay } from '../../actions/payments/pay.ts'
import type { Fields } from '../../core/interface/json.ts'
import type { Obstacle } from '../../core/payment/mayStart.ts'
import { fill, originOf } from '../../core/text.ts'
import { addressOf } from '../http/apiRequest.ts'
import type { Ctx } from '../http/context.ts'
import { sendPage } from '../pages/sendPage.ts'
import { type CheckoutOptions, goTo, onVisit } from './open.tsx'
import { ChoosePage } from './stages/choose.tsx'
import { faultText, type FormFault, sentForm, typedFor } from './stages/form.ts'
import { linkTo, offerOf, type View } from './view.ts'

type Typed = Record<string, string>

// The form to pay. If something is wrong with it, it is shown again as it was filled in.
export const payRoute =
  ({ runtime, trustedProxies }: CheckoutOptions) =>
  async (c: Ctx, view: View, fields: Fields, deadline: number) => {
    const typed = textsIn(fields)
    const { checkout, t } = view
    if (checkout.stage !== 'choose' && checkout.stage !== 'failed') return goTo(c, linkTo(view))
    const chosen = typed.payment_method ?? ''
    const method = offerOf(view, chosen)
    if (!method) {
      const text = chosen ? t.faults.method_gone : t.faults.no_method
      return formAgain(c, view, typed, [{ field: '', text }])
    }
    const request = {
      number: /^\d{1,4}$/.test(typed.number ?? '') ? Number(typed.number) : 0,
      payment_method: chosen,
      input: typedFor(view, chosen, typed),
      cause: 'customer' as const,
      lang: view.lang,
      askedLang: view.asked,
      address: addressOf(c.env.incoming, trustedProxies),
    }
    const paying = await pay(runtime, checkout, request, deadline)
    if (paying.done === 'started')
      return goTo(c, method.next === 'redirect' ? await placeAfter(runtime, view, deadline) : linkTo(view))
    if (paying.done === 'refused') return refused(c, view, typed, paying.obstacle, paying.seconds)
    const faults =
      paying.done === 'faults'
        ? paying.faults.map(fault => faultText(view, method, fault))
        : [{ field: '', text: t.faults.method_gone }]
    return formAgain(c, view, typed, faults)
  }

// A redirect to a provider's page of the same origin is sent at once (the sandbox). For another origin the customer
// follows a link, because the form-action policy blocks a redirect to it. In a frame it is always a link, which leaves
// the frame.
async function placeAfter(
  runtime: CheckoutOptions['runtime'],
  view: View,
  deadline: number,
): Promise<string> {
  if (view.framed ?? view.checkout.settings.frame_origins.length > 0) return linkTo(view)
  const after = await openCheckout(runtime, view.checkout.tx_token, deadline)
  const redirect = after?.stage === 'wait' ? after.attempts.at(-1)?.redirect_url : undefined
  return redirect && originOf(redirect) === originOf(view.baseUrl) ? redirect : linkTo(view)
}

function refused(c: Ctx, view: View, typed: Typed, obstacle: Obstacle, seconds: number) {
  const { faults } = view.t
  if (seconds === 0) return goTo(c, linkTo(view)) // that page shows the current state
  const text =
    obstacle === 'too_soon'
      ? fill(faults.too_soon, { seconds })
      : fill(faults.too_many, { minutes: Math.ceil(seconds / 60) })
  const headers = { 'retry-after': String(seconds) }
  return formAgain(c, view, typed, [{ field: '', text, lasting: true }], 429, headers)
}

function formAgain(c: Ctx, view: View, typed: Typed, faults: FormFault[], http = 422, headers = {}) {
  return sendPage(c, <ChoosePage view={onVisit(view)} form={sentForm(view, typed, faults)} />, http, headers)
}

export const textsIn = (fields: Fields): Typed =>
  Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => isText(field[1])))

const isText = (value: unknown) => typeof value === 'string'

// The form in another language, with what was typed so far. Nothing is validated or started. The input comes in the
// body and not in the address, because addresses end up in logs and histories.
export function languageRoute(c: Ctx, view: View, fields: Fields) {
  const typed = textsIn(fields)
  const { stage, methods } = view.checkout
  if ((stage !== 'choose' && stage !== 'failed') || methods.length === 0) return goTo(c, linkTo(view))
  return sendPage(c, <ChoosePage view={onVisit(view)} form={sentForm(view, typed)} again={againOf(c)} />)
}

// What the customer chose after a failed attempt.
export function againOf(c: Ctx): 'same' | 'other' | undefined {
  const again = c.req.query('again')
  return again === 'same' || again === 'other' ? again : undefined
}
