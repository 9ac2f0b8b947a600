import { type Asked, openSimulator, type Said, type Trouble } from '../frame.ts'
import type { Rule } from '../rules.ts'
import { invalidKey, keyOf } from './api.ts'
import type { Charge } from './books.ts'
import { type Desk, type DeskOptions, openDesk } from './desk.ts'
import type { RefundState } from './moneyBack.ts'
import { approve, decline, visitDashboard, visitPage, visitPhone } from './people.ts'
import type { HookKind, Story } from './stories.ts'
import { answerProgram } from './wire.ts'

export type PaystackSimulator = Awaited<ReturnType<typeof openPaystack>>

// Paystack, played. It keeps to what is written of it: an envelope that says little, references that are taken once, no
// word about a charge that failed but by verify, and webhooks that are signed over their bytes. Each secret key is a
// business of its own, in test or live mode, with one webhook address; the first is given by the options.
export async function openPaystack({ port, ...options }: DeskOptions & { port?: number } = {}) {
  const first = openDesk(options)
  const desks = new Map([[first.secretKey, first]])
  const answer = async (asked: Asked): Promise<Said | Trouble> => {
    if (asked.path.startsWith('/pay/')) return visitPage([...desks.values()], asked)
    if (asked.path.startsWith('/dashboard')) return visitDashboard([...desks.values()], asked)
    if (asked.path === '/' || asked.path.startsWith('/phone/')) return visitPhone([...desks.values()], asked)
    const key = keyOf(asked)
    if (typeof key !== 'string') return key
    const desk = desks.get(key)
    if (!desk || desk.refusesWith) return invalidKey(desk?.refusesWith)
    return answerProgram(desk, asked, simulator.url)
  }
  const simulator = await openSimulator({ answer, controls: controlsOf(desks, first, options) }, port)
  const { stop } = simulator
  simulator.stop = async () => {
    for (const desk of desks.values()) desk.close()
    await stop()
  }
  return simulator
}

// The order, by what we call it at Paystack.
type About = { idempotency_key: string }

function controlsOf(desks: Map<string, Desk>, first: Desk, options: DeskOptions) {
  const must = (wish: About | string): [Desk, Charge] => {
    const key = typeof wish === 'string' ? wish : wish.idempotency_key
    for (const desk of desks.values()) {
      const charge = desk.charges.get(key)
      if (charge) return [desk, charge]
    }
    throw new Error(`no charge ${key}`)
  }
  return {
    // A business: made where its key is new. Its webhook address is one, as on the dashboard.
    business({ secret_key, webhook_url }: { secret_key: string; webhook_url?: string }) {
      const desk =
        desks.get(secret_key) ?? openDesk({ ...options, secretKey: secret_key, webhookUrl: undefined })
      desks.set(secret_key, desk)
      desk.hooks.url = webhook_url ?? desk.hooks.url
    },
    // The key is refused from now on, by 401 or 403; undefined or null lifts it.
    refuseKey(wish: { secret_key?: string; http?: 401 | 403 | null }) {
      const desk = wish.secret_key ? desks.get(wish.secret_key) : first
      if (desk) desk.refusesWith = wish.http ?? undefined
    },
    rule: (rule: Rule<Story>) => [...desks.values()].forEach(({ rules }) => rules.add(rule)),
    clearRules: () => [...desks.values()].forEach(({ rules }) => rules.clear()),
    approve: (wish: About | string) => approve(...must(wish)),
    decline: (wish: (About & { says?: string }) | string) =>
      decline(...must(wish), typeof wish === 'string' ? undefined : wish.says),
    // By Paystack itself: no refund is listed.
    reverse(wish: About) {
      const [desk, charge] = must(wish)
      desk.end(charge, 'reversed', 'Reversed')
    },
    // Of the whole amount, or a part; with the `id` of one that was made, its next state.
    refund(wish: About & { id?: number; amount?: number; status?: RefundState }) {
      const [desk, charge] = must(wish)
      return desk.refund(charge, wish)
    },
    dispute(wish: About & { amount?: number }) {
      const [desk, charge] = must(wish)
      return desk.openDispute(charge, wish)
    },
    resolve(wish: About & { won?: boolean }) {
      const [desk, charge] = must(wish)
      return desk.resolveDispute(charge, wish.won === true)
    },
    hook(wish: About & { kind?: HookKind }) {
      const [desk, charge] = must(wish)
      return desk.hook(charge, wish.kind ?? 'good')
    },
    // Time goes by for one charge, as if it had been made so long before.
    age(wish: About & { ms: number }) {
      const [, charge] = must(wish)
      charge.made_at -= wish.ms
      charge.window_at -= wish.ms
      if (charge.ended_at) charge.ended_at -= wish.ms
      for (const one of charge.declines) one.at -= wish.ms
    },
    settings(wish: { webhook_url?: string; prompt_ms?: number; not_found_http?: 400 | 404 }) {
      first.hooks.url = wish.webhook_url ?? first.hooks.url
      for (const { terms } of desks.values()) {
        terms.promptMs = wish.prompt_ms ?? terms.promptMs
        terms.notFoundHttp = wish.not_found_http ?? terms.notFoundHttp
      }
    },
    book: () => [...desks.values()].flatMap(({ charges }) => [...charges.values()]),
  }
}
