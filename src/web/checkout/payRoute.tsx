import { openCheckout } from '../../actions/payments/openCheckout.ts'
import { pay } from '../../actions/payments/pay.ts'
import type { Fields } from '../../core/interface/json.ts'
import type { Obstacle } from '../../core/payment/mayStart.ts'
import { fill, originOf } from '../../core/text.ts'
import { addressOf } from '../http/apiRequest.ts'
import type { Ctx } from '../http/context.ts'
import { type CheckoutOptions, goTo } from './open.tsx'
import { linkTo, offerOf, type View } from './page/view.ts'
import { show } from './show.ts'
import { ChoosePage } from './stages/choose.tsx'
import { type FormFault, faultWords, sentForm, typedFor } from './stages/form.ts'
import { onVisit } from './visit.ts'

type Typed = Record<string, string>

// The button. Whatever is wrong with the form, it comes back as it was typed.
export const payRoute =
  ({ runtime, trustedProxies }: CheckoutOptions) =>
  async (c: Ctx, view: View, fields: Fields, deadline: number) => {
    const typed = textsIn(fields)
    const { checkout, t } = view
    if (checkout.stage !== 'choose' && checkout.stage !== 'failed') return goTo(c, linkTo(view))
    const chosen = typed.payment_method ?? ''
    const way = offerOf(view, chosen)
    if (!way) {
      const words = chosen ? t.faults.gone_way : t.faults.no_way
      return formAgain(c, view, typed, [{ field: '', words }])
    }
    const wish = {
      number: /^\d{1,4}$/.test(typed.number ?? '') ? Number(typed.number) : 0,
      payment_method: chosen,
      typed: typedFor(view, chosen, typed),
      cause: 'customer' as const,
      lang: view.lang,
      askedLang: view.asked,
      address: addressOf(c.env.incoming, trustedProxies),
    }
    const paying = await pay(runtime, checkout, wish, deadline)
    if (paying.done === 'started')
      return goTo(c, way.next === 'redirect' ? await placeAfter(runtime, view, deadline) : linkTo(view))
    if (paying.done === 'refused') return refused(c, view, typed, paying.obstacle, paying.seconds)
    const faults =
      paying.done === 'faults'
        ? paying.faults.map(fault => faultWords(view, way, fault))
        : [{ field: '', words: t.faults.gone_way }]
    return formAgain(c, view, typed, faults)
  }

// A provider's page of our own house is next; another's waits behind a link, because our policy stops a form that
// leads elsewhere. In a frame each waits behind its link, which leads out.
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
  if (seconds === 0) return goTo(c, linkTo(view)) // it shows the truth
  const words =
    obstacle === 'too_soon'
      ? fill(faults.too_soon, { seconds })
      : fill(faults.too_many, { minutes: Math.ceil(seconds / 60) })
  const headers = { 'retry-after': String(seconds) }
  return formAgain(c, view, typed, [{ field: '', words, lasting: true }], 429, headers)
}

function formAgain(c: Ctx, view: View, typed: Typed, faults: FormFault[], http = 422, headers = {}) {
  return show(c, <ChoosePage view={onVisit(view)} form={sentForm(view, typed, faults)} />, http, headers)
}

export const textsIn = (fields: Fields): Typed =>
  Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => isText(field[1])))

const isText = (value: unknown) => typeof value === 'string'
