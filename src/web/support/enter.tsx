import { useSupportLink } from '../../actions/installation/supportLinks.ts'
import type { Ctx } from '../http/context.ts'
import { isRefusal } from '../http/errors.ts'
import { accessOf, countingWrong, type OperatorDoor, startSession } from '../http/operatorDoor.ts'
import { supportHeaders } from './frame.tsx'
import { refuse, setHeaders } from './guard.tsx'
import { UnreachableLinkPage, UsedLinkPage } from './pages.tsx'
import type { SupportRuntime } from './show.tsx'

// A single-use link from the terminal: it sets the session cookie and leads to the support page. One click is enough, so
// GET uses the link up; HEAD and a browser's prefetch do not.
export const enterRoute =
  ({ db }: Pick<SupportRuntime, 'db'>, door: OperatorDoor) =>
  async (c: Ctx) => {
    setHeaders(c, supportHeaders)
    if (c.req.method === 'HEAD' || isPrefetch(c)) return c.body(null, 204)
    const mayTry = countingWrong(c, door, () => true)
    if (isRefusal(mayTry)) return refuse(c, door, mayTry)
    try {
      const isValid = await useSupportLink(db, door.keys, c.req.query('link') ?? '', door.clock())
      if (isValid) startSession(c, door)
      // The same link again, in a browser that it has signed in before, does no harm.
      if (isValid || accessOf(c, door) === 'granted') return c.body(null, 303, { location: '/support' })
      countingWrong(c, door, () => false)
      return c.html(<UsedLinkPage />, 403)
    } catch (error) {
      if (!isRefusal(error)) throw error
      return c.html(<UnreachableLinkPage />, 503, { 'retry-after': '5' })
    }
  }

const isPrefetch = (c: Ctx) => /prefetch/i.test(c.req.header('sec-purpose') ?? c.req.header('purpose') ?? '')
