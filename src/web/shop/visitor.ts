import { createHash, randomBytes } from 'node:crypto'
import { getCookie, setCookie } from 'hono/cookie'
import type { Payment } from '../../core/payment/payment.ts'
import { isSecureAddress } from '../../core/operator/operatorKeys.ts'
import type { Ctx } from '../http/context.ts'

const keptSeconds = 7 * 24 * 3600

// A visitor of the demo shop: a random secret in a cookie, and the invoice id of the visitor's newest order. The payment
// stores a digest of the secret, so the gateway stores no visitors, and only the browser that has bought sees an order.
export type Visitor = { secret: string; newest?: string }

const cookieName = (baseUrl: string) => (isSecureAddress(baseUrl) ? '__Host-tollgate_shop' : 'tollgate_shop')

export function visitorOf(c: Ctx, baseUrl: string): Visitor | undefined {
  const [, secret, newest] =
    /^([\w-]{32})\.([\w-]{1,25})$/.exec(getCookie(c, cookieName(baseUrl)) ?? '') ?? []
  return secret === undefined ? undefined : { secret, newest }
}

export const newVisitor = (): Visitor => ({ secret: randomBytes(24).toString('base64url') })

// SameSite=Lax: the visitor comes back from the checkout of this gateway, or from a provider's page.
export function rememberOrder(c: Ctx, baseUrl: string, { secret }: Visitor, invoice_id: string) {
  setCookie(c, cookieName(baseUrl), `${secret}.${invoice_id}`, {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    secure: isSecureAddress(baseUrl),
    maxAge: keptSeconds,
  })
}

// The field of the payment that binds it to its visitor.
export const visitorField = 'visitor'

export const visitorDigest = ({ secret }: Visitor) => createHash('sha256').update(secret).digest('base64url')

export const isOwn = (payment: Pick<Payment, 'extra'>, visitor: Visitor) =>
  payment.extra[visitorField] === visitorDigest(visitor)
