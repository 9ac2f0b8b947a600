import { z } from 'zod'
import { currencies, parseMoney } from '../core/money.ts'
import { isPlainText, parseUrl } from '../core/text.ts'
import type { NewCharge } from '../store/sandboxCharges.ts'
import { chooseEnding } from './endings.ts'

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

export const isReference = (reference: string) => /^[0-9A-Za-z_-]{11,100}$/.test(reference)

// The requested charge, or the name of the invalid field. A voucher is checked here and never stored.
export function parseCharge(reference: string, body: unknown, now: Date): NewCharge | string {
  if (!isReference(reference)) return 'x-reference-id'
  const { data, error } = schema.safeParse(body)
  if (!data) return error.issues[0]?.path.join('.') || 'body'
  const { voucher, payer = null, note = null, ...rest } = data
  const amount = parseMoney(data.amount, data.currency) as bigint
  const ending = chooseEnding({ method: data.method, amount, payer, voucher })
  return { ...rest, reference, payer, note, amount, ending, created_at: now }
}
