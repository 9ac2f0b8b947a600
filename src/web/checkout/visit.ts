import { endedAt } from '../../core/checkout/leave.ts'
import { newVisit } from '../../runtime/ids.ts'
import type { Ctx } from '../http/context.ts'
import type { View } from './page/view.ts'

// One visit of one browser, from the first page to the last. Its name goes from page to page in the address, because
// there are no cookies, and is good for one way out: an address that is opened again, or by somebody else, stays.
export function visitOf(c: Ctx): string | undefined {
  const word = c.req.query('visit') ?? ''
  return /^[\w-]{1,20}$/.test(word) ? word : undefined
}

// A page that somebody opens gives it its name. Whoever comes after the end has not seen it end, and gets none.
export const onVisit = (view: View): View =>
  view.visit || endedAt(view.checkout) ? view : { ...view, visit: newVisit() }

// The provider's page sends the customer back without a name; there is one way back from each attempt.
export const visitFrom = ({ number }: { number: number }) => `back-${number}`
