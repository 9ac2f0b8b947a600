import { prompted } from '../actions/payments/askDue.ts'
import type { Gate } from '../runtime/runtime.ts'
import type { Ctx } from './http/context.ts'

// A provider tells us that something happened to an attempt. It is a prompt to ask, never an answer: the body is not
// even read. Stored before it is acknowledged.
export const callbackRoute = (gate: Gate) => async (c: Ctx) => {
  if (await prompted(gate, c.req.param('attempt') ?? '')) gate.wake('askers')
  return c.text('ok\n')
}
