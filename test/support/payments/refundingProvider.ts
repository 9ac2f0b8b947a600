import type { ProviderAccount } from '../../../src/core/provider/provider.ts'
import type { ProviderRefunds, RefundOrder, RefundReply } from '../../../src/core/provider/refundOrder.ts'
import type { Reply } from '../../../src/core/provider/reply.ts'
import type { Webhook } from '../../../src/core/provider/webhook.ts'
import { yes } from './rows.ts'

// A refund that moved money at the provider.
type MadeRefund = { id: string; key: string; refund_reference: string; attempt_id: string; amount: bigint }

export const madeReply = (order: RefundOrder, provider_ref?: string): RefundReply => ({
  state: 'succeeded',
  refund: order.idempotency_key,
  amount: order.amount,
  currency: order.currency,
  ...(provider_ref && { provider_ref }),
})

export const aWebhook: Webhook = { path: '', headers: {}, body: Buffer.from('{}'), address: '192.0.2.1' }

// A provider that pays every order at once and counts the refunds that it makes. A test replaces what it does.
export function refundingProvider(terms: Partial<ProviderRefunds> = {}) {
  const posts: RefundOrder[] = []
  const questions: RefundOrder[] = []
  const made: MadeRefund[] = []

  // Moves money, once for each key if the provider is idempotent.
  function make({ idempotency_key: key, refund_reference, charge, amount }: RefundOrder): MadeRefund {
    const before = made.find(one => one.key === key)
    if (before && refunds.isIdempotent) return before
    const refund = {
      id: `R-${key.slice(-8)}-${made.length}`,
      key,
      refund_reference,
      attempt_id: charge.attempt_id,
      amount,
    }
    made.push(refund)
    return refund
  }

  const script = {
    refund: async (order: RefundOrder): Promise<RefundReply> => madeReply(order, make(order).id),
    check: async (order: RefundOrder): Promise<RefundReply> => {
      const found = made.find(({ key }) => key === order.idempotency_key)
      return found ? madeReply(order, found.id) : { state: 'absent' }
    },
    // What the status of the charge lists; by default without our reference, as the hardest case.
    listed: (attempt_id: string) =>
      made
        .filter(one => one.attempt_id === attempt_id)
        .map(({ id, amount }) => ({ id, amount, words: 'Refund.' })),
  }
  const refunds: ProviderRefunds = {
    isIdempotent: true,
    hasPartial: true,
    ...terms,
    refund: order => {
      posts.push(order)
      return script.refund(order)
    },
    checkRefund: order => {
      questions.push(order)
      return script.check(order)
    },
  }
  const account: Pick<ProviderAccount, 'start' | 'check' | 'refunds'> = {
    start: async () => yes,
    check: async ({ attempt_id }): Promise<Reply> => ({ ...yes, reversals: script.listed(attempt_id) }),
    refunds,
  }
  return { account, script, posts, questions, made, make }
}
