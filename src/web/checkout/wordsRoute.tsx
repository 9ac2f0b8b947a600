import type { Fields } from '../../core/interface/json.ts'
import type { Ctx } from '../http/context.ts'
import { goTo } from './open.tsx'
import { linkTo, type View } from './page/view.ts'
import { textsIn } from './payRoute.tsx'
import { show } from './show.ts'
import { ChoosePage } from './stages/choose.tsx'
import { sentForm } from './stages/form.ts'
import { onVisit } from './visit.ts'

// The form in another language, as it was filled in so far. Nothing is looked at and nothing starts; what was typed comes
// in the body, because addresses are kept in many places.
export function wordsRoute(c: Ctx, view: View, fields: Fields) {
  const typed = textsIn(fields)
  const { stage, offers } = view.checkout
  if ((stage !== 'choose' && stage !== 'failed') || offers.length === 0) return goTo(c, linkTo(view))
  return show(c, <ChoosePage view={onVisit(view)} form={sentForm(view, typed)} again={againOf(c)} />)
}

// What the customer chose after a failure.
export function againOf(c: Ctx): 'same' | 'other' | undefined {
  const again = c.req.query('again')
  return again === 'same' || again === 'other' ? again : undefined
}
