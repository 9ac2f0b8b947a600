import { createHash, timingSafeEqual } from 'node:crypto'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { currencies, parseMoney } from '../core/money.ts'
import { isPlainText, parseUrl } from '../core/text.ts'
import type { Db } from '../store/db.ts'
import {
  type Charge,
  decideCharge,
  findCharge,
  insertCharge,
  type NewCharge,
} from '../store/sandboxCharges.ts'
import {
  callbacksOf,
  chargeAnswer,
  chooseEnding,
  endingOfCharge,
  hangMs,
  isWithdrawable,
  pathsOf,
  stateAt,
} from './charge.ts'
import { limitBody, type SandboxContext, type SandboxEnv } from './page.tsx'
import { refundRoutes } from './refundRoutes.ts'

const maxBodyBytes = 16 * 1024

// The provider's API, for the gateway only.
export function providerRoutes(context: SandboxContext) {
  const { db, clock, key, timeScale, callbacks } = context
  const app = new Hono<SandboxEnv>()

  app.use(async (c, next) => {
    c.header('cache-control', 'no-store')
    if (!isKey(c.req.header('authorization') ?? '', key)) return c.json({ code: 'UNAUTHORIZED' }, 401)
    return next()
  })

  app.post(
    '/charges',
    limitBody(maxBodyBytes, c => c.json({ code: 'BODY_TOO_LARGE' }, 413)),
    async c => {
      const body: unknown = await c.req.json().catch(() => undefined)
      const request = parseCharge(c.req.header('x-reference-id') ?? '', body, clock())
      if (typeof request === 'string') return c.json({ code: 'INVALID_REQUEST', field: request }, 400)
      const charge = await insertCharge(db, request)
      if (!charge) {
        const existing = (await findCharge(db, request.reference)) ?? request
        return c.json({ code: 'RESOURCE_ALREADY_EXIST', ...pathsOf(existing) }, 409)
      }
      callbacks.schedule(charge, callbacksOf(charge, timeScale))
      const { startError } = endingOfCharge(charge)
      if (startError === 'error') return c.json({ code: 'INTERNAL_PROCESSING_ERROR' }, 500)
      if (startError === 'hang') await callbacks.wait(hangMs * timeScale)
      if (startError === 'cut') {
        c.env.incoming.socket.destroy()
        return RESPONSE_ALREADY_SENT
      }
      return c.json(pathsOf(charge), 202)
    },
  )

  app.get('/charges/:ref', async c => answer(c, await chargeOf(c, db)))

  // The first decision is final, by the tester or by this request. The answer is the resulting charge.
  app.post('/charges/:ref/withdraw', async c => {
    const charge = await chargeOf(c, db)
    if (!charge || !isWithdrawable(charge, clock(), timeScale)) return answer(c, charge)
    const { withdrawnAs = 'withdrawn' } = endingOfCharge(charge)
    const withdrawn = await decideCharge(db, charge.reference, withdrawnAs, clock())
    if (withdrawn) callbacks.schedule(withdrawn, callbacksOf(withdrawn, timeScale))
    return answer(c, withdrawn ?? (await chargeOf(c, db)))
  })

  app.route('/refunds', refundRoutes(context))

  function answer(c: Context, charge: Charge | undefined) {
    if (!charge) return c.json({ code: 'RESOURCE_NOT_FOUND' }, 404)
    const state = stateAt(charge, clock(), timeScale)
    if (state.pollError) return c.json({ code: state.pollError.code }, state.pollError.http)
    return c.json(chargeAnswer(charge, state))
  }

  return app
}

const digest = (text: string) => createHash('sha256').update(text).digest()
const isKey = (header: string, key: string) => timingSafeEqual(digest(header), digest(`Bearer ${key}`))

export const methods = ['mtn', 'telecel', 'at', 'card', 'ghqr'] as const

const text = (max: number) => z.string().min(1).max(max).refine(isPlainText)
const url = z
  .string()
  .max(2048)
  .refine(address => parseUrl(address) === undefined)

const schema = z
  .object({
    amount: z.string(),
    currency: z.enum(currencies),
    method: z.enum(methods),
    payer: z
      .string()
      .regex(/^[1-9]\d{6,14}$/)
      .optional(),
    voucher: text(20).optional(),
    payee: text(200),
    note: text(1000).optional(),
    callback_url: url,
    return_url: url,
  })
  .refine(({ amount, currency }) => typeof parseMoney(amount, currency) === 'bigint', { path: ['amount'] })
  .refine(({ method, payer }) => payer || method === 'card' || method === 'ghqr', { path: ['payer'] })
  .refine(({ method, voucher }) => voucher || method !== 'telecel', { path: ['voucher'] })
  .refine(({ method, currency }) => method === 'card' || currency === 'GHS', { path: ['currency'] })

const isReference = (reference: string) => /^[0-9A-Za-z_-]{11,100}$/.test(reference)

// The charge that the address names.
export async function chargeOf(c: Context, db: Db): Promise<Charge | undefined> {
  const reference = c.req.param('ref') ?? ''
  return isReference(reference) ? findCharge(db, reference) : undefined
}

// The requested charge, or the name of the invalid field. A voucher is checked here and never stored.
function parseCharge(reference: string, body: unknown, now: Date): NewCharge | string {
  if (!isReference(reference)) return 'x-reference-id'
  const { data, error } = schema.safeParse(body)
  if (!data) return error.issues[0]?.path.join('.') || 'body'
  const { voucher, payer = null, note = null, ...rest } = data
  const amount = parseMoney(data.amount, data.currency) as bigint
  const ending = chooseEnding({ method: data.method, amount, payer, voucher })
  return { ...rest, reference, payer, note, amount, ending, created_at: now }
}
