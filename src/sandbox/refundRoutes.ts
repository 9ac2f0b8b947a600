import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { currencies, parseMoney } from '../core/money.ts'
import { parseUrl } from '../core/text.ts'
import { type Charge, findCharge } from '../store/sandboxCharges.ts'
import { findSandboxRefund, insertSandboxRefund, type NewSandboxRefund } from '../store/sandboxRefunds.ts'
import { endingOfCharge, hangMs, stateAt } from './charge.ts'
import { limitBody, type SandboxContext, type SandboxEnv } from './page.tsx'
import {
  chooseRefundEnding,
  endingOfRefund,
  isFinalFailure,
  refundAnswer,
  refundCallbacks,
  refundStateAt,
} from './refund.ts'

const maxBodyBytes = 16 * 1024
const reference = /^[0-9A-Za-z_-]{11,100}$/

// The provider's API for refunds, for the gateway only.
export function refundRoutes({ db, clock, timeScale, callbacks }: SandboxContext) {
  const app = new Hono<SandboxEnv>()

  app.post(
    '/',
    limitBody(maxBodyBytes, c => c.json({ code: 'BODY_TOO_LARGE' }, 413)),
    async c => {
      const body: unknown = await c.req.json().catch(() => undefined)
      const request = parseRefund(c.req.header('x-reference-id') ?? '', body, clock())
      if (typeof request === 'string') return refuse(c, 'INVALID_REQUEST', { field: request })
      const charge = await findCharge(db, request.charge)
      if (!charge || stateAt(charge, clock(), timeScale).status !== 'SUCCESSFUL')
        return refuse(c, 'CHARGE_NOT_FOUND')
      if (charge.currency !== request.currency) return refuse(c, 'INVALID_REQUEST', { field: 'currency' })
      const { refused, answerError } = endingOfRefund(request)
      if (refused) return refuse(c, refused)
      const refund = await insertSandboxRefund(db, request, chargedOf(charge))
      if (refund === 'exists') return c.json({ code: 'RESOURCE_ALREADY_EXIST' }, 409)
      if (refund === 'too_much') return refuse(c, 'MORE_THAN_CHARGED')
      callbacks.schedule(refund, refundCallbacks(refund, timeScale))
      if (answerError === 'error') return c.json({ code: 'INTERNAL_PROCESSING_ERROR' }, 500)
      if (answerError === 'hang') await callbacks.wait(hangMs * timeScale)
      if (answerError === 'cut') {
        c.env.incoming.socket.destroy()
        return RESPONSE_ALREADY_SENT
      }
      return c.json({}, 202)
    },
  )

  app.get('/:ref', async c => {
    const named = c.req.param('ref')
    const refund = reference.test(named) ? await findSandboxRefund(db, named) : undefined
    if (!refund) return c.json({ code: 'RESOURCE_NOT_FOUND' }, 404)
    const state = refundStateAt(refund, clock(), timeScale)
    if (state.pollError) return c.json({ code: state.pollError.code }, state.pollError.http)
    return c.json(refundAnswer(refund, state))
  })

  return app
}

const refuse = (c: Context, code: string, more: object = {}) => c.json({ code, ...more }, 400)

const chargedOf = (charge: Charge) => {
  const { surcharge = 0n } = endingOfCharge(charge)
  return charge.amount + surcharge
}

const schema = z
  .object({
    charge: z.string().regex(reference),
    amount: z.string(),
    currency: z.enum(currencies),
    callback_url: z
      .string()
      .max(2048)
      .refine(address => parseUrl(address) === undefined),
  })
  .refine(({ amount, currency }) => typeof parseMoney(amount, currency) === 'bigint', { path: ['amount'] })

// The requested refund, or the name of the invalid field.
function parseRefund(named: string, body: unknown, now: Date): NewSandboxRefund | string {
  if (!reference.test(named)) return 'x-reference-id'
  const { data, error } = schema.safeParse(body)
  if (!data) return error.issues[0]?.path.join('.') || 'body'
  const amount = parseMoney(data.amount, data.currency) as bigint
  const ending = chooseRefundEnding(amount)
  return {
    ...data,
    reference: named,
    amount,
    ending,
    is_final_failure: isFinalFailure(ending),
    created_at: now,
  }
}
