import { findDemoKeys } from '../../actions/merchants/demoKeys.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { type Ctx, errorContext, respond } from '../http/context.ts'
import { notFoundAnswer } from '../http/errors.ts'

// Names under which only this machine is reached. Without this check, the page of another host could have its name
// resolved to this machine, and read the answer as its own.
const ownHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/

// The keys of the demo shop, with which "Try it out" is filled in. The route exists only on a gateway that no other
// machine can reach, and is for the pages of this gateway.
export const demoKeysRoute = (runtime: Pick<Runtime, 'db' | 'callers' | 'clock'>) => async (c: Ctx) => {
  const site = c.req.header('sec-fetch-site')
  const isOwnPage = ownHost.test(c.req.header('host') ?? '') && (site === undefined || site === 'same-origin')
  if (!isOwnPage) return respond(c, notFoundAnswer(errorContext(c)))
  return c.json((await findDemoKeys(runtime)) ?? {})
}
