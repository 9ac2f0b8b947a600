import { context, type Span, type SpanContext, SpanKind, type SpanOptions, trace } from '@opentelemetry/api'
import { contextOf, inSpan, isTraced, linksTo, spanContextOf, withoutTrace } from '../core/traces.ts'
import type { Db } from '../store/db.ts'
import type { PaymentKey } from '../store/payments/paymentKeys.ts'
import { traceparentByAttempt, traceparentByToken, traceparentOf } from '../store/payments/paymentTraces.ts'
import { isToken, merchantOfToken } from './ids.ts'

// The trace of a payment begins with the request that created it, whose context is stored with the payment. Requests of
// its customer, callbacks, polls, refunds and tries of notifications continue it, also on another node and after a
// restart. Nothing is read while no SDK is loaded, and nothing fails because a trace cannot be read.
export type PaymentTraces = {
  // The trace that a request for this path continues: of a checkout, or of the callback of an attempt.
  ofPath(path: string): Promise<SpanContext | undefined>
  // Runs a job in a span of the payment's trace. Without one, it is a span of the request that caused the job, if there is one.
  inPayment<T>(
    key: PaymentKey,
    name: string,
    options: SpanOptions,
    work: (span: Span) => Promise<T>,
  ): Promise<T>
}

const mostCached = 5000
const lookupMs = 500

export function createPaymentTraces(database: Db): PaymentTraces {
  const db = database.withQuota('traces')
  const cached = new Map<string, SpanContext | undefined>() // it never changes; the oldest is dropped

  async function find(
    name: string,
    read: (limited: Db) => Promise<{ traceparent: string | null } | undefined>,
  ) {
    if (cached.has(name)) return cached.get(name)
    try {
      const row = await withoutTrace(() => read(db.withDeadline(performance.now() + lookupMs)))
      if (!row) return undefined
      const found = spanContextOf(row.traceparent ?? undefined)
      cached.set(name, found)
      for (const oldest of cached.keys()) if (cached.size > mostCached) cached.delete(oldest)
      return found
    } catch {
      return undefined
    }
  }

  return {
    async ofPath(path) {
      const [, area, token = ''] = /^\/(checkout|callbacks)\/([0-9a-z]{36,42})(?:\/|$)/.exec(path) ?? []
      const merchant_id = merchantOfToken(token)
      if (area === 'callbacks')
        return find(token, limited => traceparentByAttempt(limited, merchant_id, token))
      if (area === 'checkout' && isToken(token))
        return find(token, limited => traceparentByToken(limited, merchant_id, token))
      return undefined
    },

    async inPayment(key, name, options, work) {
      if (!isTraced()) return inSpan(name, options, work)
      const { merchant_id, tx_reference } = key
      const stored = await find(`${merchant_id} ${tx_reference}`, limited => traceparentOf(limited, key))
      const active = trace.getSpan(context.active())
      const isActive = stored === undefined || active?.spanContext().traceId === stored.traceId
      const parent = isActive ? context.active() : contextOf(stored)
      return inSpan(
        name,
        {
          kind: SpanKind.INTERNAL,
          ...options,
          attributes: {
            ...options.attributes,
            'tollgate.merchant_id': merchant_id,
            'tollgate.tx_reference': tx_reference,
          },
          links: isActive ? [] : linksTo(active?.spanContext()),
          parent,
        },
        work,
      )
    },
  }
}
