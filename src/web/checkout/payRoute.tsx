import { openCheckout } from '../../actions/payments/openCheckout.ts'
import { pay } from '../../actions/payments/pay.ts'
import type { Fields } from '../../core/interface/json.ts'
import type { Obstacle } from '../../core/payment/mayStart.ts'
import { fill, originOf } from '../../core/text.ts'
import { addressOf } from '../http/apiRequest.ts'
import type { Ctx } from '../http/context.ts'
import { sendPage } from '../pages/sendPage.ts'
import { type CheckoutOptions, redirectTo, onVisit } from './open.tsx'
import { ChoosePage } from './stages/choose.tsx'
import { faultText, fieldName, type FormFault, inputFor, labelOf, sentForm } from './stages/form.ts'
import { linkTo, methodOf, type View } from './view.ts'

type FormTexts = Record<string, string>

// The route of the payment form. A faulty form is shown again as it was filled in.
export const payRoute =
  ({ runtime, trustedProxies }: CheckoutOptions) =>
  async (c: Ctx, view: View, fields: Fields, deadline: number) => {
    const texts = textsIn(fields)
    const { checkout, t } = view
    if (checkout.stage !== 'choose' && checkout.stage !== 'failed') return redirectTo(c, linkTo(view))
    const chosen = texts.payment_method ?? ''
    const method = methodOf(view, chosen)
    if (!method) {
      const text = chosen ? t.faults.method_gone : t.faults.no_method
      return showFormAgain(c, view, texts, [{ field: '', text }])
    }
    const request = {
      number: /^\d{1,4}$/.test(texts.number ?? '') ? Number(texts.number) : 0,
      payment_method: chosen,
      input: inputFor(view, chosen, texts),
      cause: 'customer' as const,
      lang: view.lang,
      askedLang: view.urlLang,
      address: addressOf(c.env.incoming, trustedProxies),
    }
    const paying = await pay(runtime, checkout, request, deadline)
    if (paying.done === 'started')
      return redirectTo(
        c,
        method.next === 'redirect' ? await locationAfterStart(runtime, view, deadline) : linkTo(view),
      )
    if (paying.done === 'refused') return refused(c, view, texts, paying.obstacle, paying.seconds)
    const faults =
      paying.done === 'faults'
        ? paying.faults.map(fault => ({
            field: fieldName(chosen, fault.field),
            label: labelOf(view, method.fields, fault.field),
            text: faultText(view, method, fault),
          }))
        : [{ field: '', text: t.faults.method_gone }]
    return showFormAgain(c, view, texts, faults)
  }

// The sandbox's page has the origin of the gateway, so the answer redirects to it. The form-action policy blocks such a
// redirect to another origin, so the payment's page forwards there. A frame gets a link, which opens in the whole window.
async function locationAfterStart(runtime: CheckoutOptions['runtime'], view: View, deadline: number) {
  if (view.framed ?? view.checkout.settings.frame_origins.length > 0) return linkTo(view)
  const after = await openCheckout(runtime, view.checkout.tx_token, deadline)
  const redirect = after?.stage === 'wait' ? after.attempts.at(-1)?.redirect_url : undefined
  return redirect && originOf(redirect) === originOf(view.baseUrl)
    ? redirect
    : linkTo(view, '', { forward: '1' })
}

function refused(c: Ctx, view: View, texts: FormTexts, obstacle: Obstacle, seconds: number) {
  const { faults } = view.t
  if (seconds === 0) return redirectTo(c, linkTo(view)) // that page shows the current state
  const text =
    obstacle === 'too_soon'
      ? fill(faults.too_soon, { seconds })
      : fill(faults.too_many, { minutes: Math.ceil(seconds / 60) })
  const headers = { 'retry-after': String(seconds) }
  return showFormAgain(c, view, texts, [{ field: '', text, lasting: true }], 429, headers)
}

function showFormAgain(c: Ctx, view: View, texts: FormTexts, faults: FormFault[], http = 422, headers = {}) {
  return sendPage(c, <ChoosePage view={onVisit(view)} form={sentForm(view, texts, faults)} />, http, headers)
}

export const textsIn = (fields: Fields): FormTexts =>
  Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, string] => typeof field[1] === 'string'),
  )

// The form in another language, with the input so far. Nothing is validated or started. The input is sent in the body
// and not in the address, because addresses end up in logs and histories.
export function languageRoute(c: Ctx, view: View, fields: Fields) {
  const { stage, methods } = view.checkout
  if ((stage !== 'choose' && stage !== 'failed') || methods.length === 0) return redirectTo(c, linkTo(view))
  return sendPage(
    c,
    <ChoosePage view={onVisit(view)} form={sentForm(view, textsIn(fields))} again={againOf(c)} />,
  )
}

// What the customer chose after a failed attempt.
export function againOf(c: Ctx): 'same' | 'other' | undefined {
  const again = c.req.query('again')
  return again === 'same' || again === 'other' ? again : undefined
}
