import { type SimulatorRequest, openSimulator, type SimulatorReply, type Trouble } from '../simulator.ts'
import type { Rule } from '../rules.ts'
import { invalidKey, keyOf } from './api.ts'
import type { Charge } from './charges.ts'
import { type Business, type BusinessOptions, openBusiness } from './business.ts'
import type { RefundState, RefundStory } from './moneyBack.ts'
import { approve, decline, visitDashboard, visitPage, visitPhone } from './visits.ts'
import type { HookKind, Story } from './stories.ts'
import { answerProgram } from './wire.ts'

export type PaystackSimulator = Awaited<ReturnType<typeof openPaystack>>

// A Paystack simulator that follows the documentation: a terse envelope, references that are accepted once, failed charges
// that only verify reports, and webhooks signed over their bytes. Each secret key is a separate business, in test or
// live mode, with one webhook address; the options define the first.
export async function openPaystack({ port, ...options }: BusinessOptions & { port?: number } = {}) {
  const first = openBusiness(options)
  const businesses = new Map([[first.secretKey, first]])
  const answer = async (asked: SimulatorRequest): Promise<SimulatorReply | Trouble> => {
    if (asked.path.startsWith('/pay/')) return visitPage([...businesses.values()], asked)
    if (asked.path.startsWith('/dashboard')) return visitDashboard([...businesses.values()], asked)
    if (asked.path === '/' || asked.path.startsWith('/phone/'))
      return visitPhone([...businesses.values()], asked)
    const key = keyOf(asked)
    if (typeof key !== 'string') return key
    const business = businesses.get(key)
    if (!business || business.refusesWith) return invalidKey(business?.refusesWith)
    return answerProgram(business, asked, simulator.url)
  }
  const simulator = await openSimulator({ answer, controls: controlsOf(businesses, first, options) }, port)
  const { stop } = simulator
  simulator.stop = async () => {
    for (const business of businesses.values()) business.close()
    await stop()
  }
  return simulator
}

// The order, by the gateway's idempotency key.
type About = { idempotency_key: string }

function controlsOf(businesses: Map<string, Business>, first: Business, options: BusinessOptions) {
  const must = (request: About | string): [Business, Charge] => {
    const key = typeof request === 'string' ? request : request.idempotency_key
    for (const business of businesses.values()) {
      const charge = business.charges.get(key)
      if (charge) return [business, charge]
    }
    throw new Error(`no charge ${key}`)
  }
  return {
    // Adds a business, or sets the webhook address of an existing one, as on the dashboard.
    business({ secret_key, webhook_url }: { secret_key: string; webhook_url?: string }) {
      const business =
        businesses.get(secret_key) ??
        openBusiness({ ...options, secretKey: secret_key, webhookUrl: undefined })
      businesses.set(secret_key, business)
      business.hooks.url = webhook_url ?? business.hooks.url
    },
    // Refuses the key from now on, with 401 or 403; undefined or null lifts this.
    refuseKey(request: { secret_key?: string; http?: 401 | 403 | null }) {
      const business = request.secret_key ? businesses.get(request.secret_key) : first
      if (business) business.refusesWith = request.http ?? undefined
    },
    rule: (rule: Rule<Story>) => [...businesses.values()].forEach(({ rules }) => rules.add(rule)),
    // What becomes of refunds by POST /refund, by the reference of the charge or the amount in pesewas.
    refundRule: (rule: Rule<RefundStory>) =>
      [...businesses.values()].forEach(({ refundRules }) => refundRules.add(rule)),
    clearRules: () => [...businesses.values()].forEach(({ rules }) => rules.clear()),
    approve: (request: About | string) => approve(...must(request)),
    decline: (request: (About & { says?: string }) | string) =>
      decline(...must(request), typeof request === 'string' ? undefined : request.says),
    // A reversal by Paystack itself: it has no refund entry.
    reverse(request: About) {
      const [business, charge] = must(request)
      business.end(charge, 'reversed', 'Reversed')
    },
    // Refunds the whole amount or a part; with the `id` of an existing refund, moves it to its next state.
    refund(request: About & { id?: number; amount?: number; status?: RefundState }) {
      const [business, charge] = must(request)
      return business.refund(charge, request)
    },
    dispute(request: About & { amount?: number }) {
      const [business, charge] = must(request)
      return business.openDispute(charge, request)
    },
    resolve(request: About & { won?: boolean }) {
      const [business, charge] = must(request)
      return business.resolveDispute(charge, request.won === true)
    },
    hook(request: About & { kind?: HookKind }) {
      const [business, charge] = must(request)
      return business.hook(charge, request.kind ?? 'good')
    },
    // Makes a charge older.
    age(request: About & { ms: number }) {
      const [, charge] = must(request)
      charge.made_at -= request.ms
      charge.window_at -= request.ms
      if (charge.ended_at) charge.ended_at -= request.ms
      for (const one of charge.declines) one.at -= request.ms
    },
    settings(request: { webhook_url?: string; prompt_ms?: number; not_found_http?: 400 | 404 }) {
      first.hooks.url = request.webhook_url ?? first.hooks.url
      for (const { terms } of businesses.values()) {
        terms.promptMs = request.prompt_ms ?? terms.promptMs
        terms.notFoundHttp = request.not_found_http ?? terms.notFoundHttp
      }
    },
    book: () => [...businesses.values()].flatMap(({ charges }) => [...charges.values()]),
  }
}
