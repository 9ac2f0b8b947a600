import { type GiveUpWish, giveUp } from '../../actions/payments/giveUp.ts'
import type { Fields } from '../../core/interface/json.ts'
import { gaveUpFor } from '../../core/payment/attempt.ts'
import type { Ctx } from '../http/context.ts'
import { type CheckoutOptions, goTo } from './open.tsx'
import { linkTo, type View } from './page/view.ts'

// "Wrong number?" and "Pay another way". The page that follows shows what came of it.
export const giveUpRoute =
  ({ runtime }: CheckoutOptions) =>
  async (c: Ctx, view: View, fields: Fields, deadline: number) => {
    const wish = wishOf(fields)
    if (wish && ['wait', 'step'].includes(view.checkout.stage))
      await giveUp(runtime, view.checkout, wish, deadline)
    return goTo(c, linkTo(view))
  }

function wishOf({ number, for: asked }: Fields): GiveUpWish | undefined {
  const gave_up_for = gaveUpFor.find(word => word === asked)
  if (!gave_up_for || typeof number !== 'string' || !/^\d{1,4}$/.test(number)) return undefined
  return { number: Number(number), gave_up_for }
}
