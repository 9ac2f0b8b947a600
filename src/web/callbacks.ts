import { prompted } from '../actions/payments/askDue.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Ctx } from './http/context.ts'

// A provider tells us that something happened to an attempt. It is a prompt to ask, never an answer: the body is not
// even read. Stored before it is acknowledged.
export const callbackRoute = (runtime: Runtime) => async (c: Ctx) => {
  if (await prompted(runtime, c.req.param('attempt') ?? '')) runtime.wake('pollers')
  return c.text('ok\n')
}
