import { type Asked, openSimulator, type Said, type Trouble } from '../frame.ts'
import type { Rule } from '../rules.ts'
import type { Charge } from './books.ts'
import { type Desk, type DeskOptions, openDesk } from './desk.ts'
import { approve, decline, visitPage, visitPhone } from './people.ts'
import type { HookKind, Story } from './stories.ts'
import { answerProgram } from './wire.ts'

export type PaystackSimulator = Awaited<ReturnType<typeof openPaystack>>

// Paystack, played. It keeps to what is written of it: an envelope that says little, references that are taken once, no
// word about a charge that failed but by verify, and webhooks that are signed over their bytes.
export async function openPaystack({ port, ...options }: DeskOptions & { port?: number } = {}) {
  const desk = openDesk(options)
  const answer = async (asked: Asked): Promise<Said | Trouble> => {
    if (asked.path.startsWith('/pay/')) return visitPage(desk, asked)
    if (asked.path === '/' || asked.path.startsWith('/phone/')) return visitPhone(desk, asked)
    return answerProgram(desk, asked, simulator.url)
  }
  const simulator = await openSimulator({ answer, controls: controlsOf(desk) }, port)
  const { stop } = simulator
  simulator.stop = async () => {
    desk.close()
    await stop()
  }
  return simulator
}

// The order, by what we call it at Paystack.
type About = { key: string }

function controlsOf(desk: Desk) {
  const { charges, rules, hooks, terms } = desk
  const must = (wish: About | string): Charge => {
    const key = typeof wish === 'string' ? wish : wish.key
    const charge = charges.get(key)
    if (!charge) throw new Error(`no charge ${key}`)
    return charge
  }
  return {
    rule: (rule: Rule<Story>) => rules.add(rule),
    clearRules: () => rules.clear(),
    approve: (wish: About | string) => approve(desk, must(wish)),
    decline: (wish: (About & { says?: string }) | string) =>
      decline(desk, must(wish), typeof wish === 'string' ? undefined : wish.says),
    reverse: (wish: About) => desk.end(must(wish), 'reversed', 'Reversed'),
    refund: (wish: About & { event?: string }) => desk.refund(must(wish), wish.event ?? 'refund.processed'),
    dispute: (wish: About & { event?: string }) =>
      desk.dispute(must(wish), wish.event ?? 'charge.dispute.create'),
    hook: (wish: About & { kind?: HookKind }) => desk.hook(must(wish), wish.kind ?? 'good'),
    // Time goes by for one charge, as if it had been made so long before.
    age(wish: About & { ms: number }) {
      const charge = must(wish)
      charge.made_at -= wish.ms
      charge.window_at -= wish.ms
      if (charge.ended_at) charge.ended_at -= wish.ms
    },
    settings(wish: { webhook_url?: string; prompt_ms?: number }) {
      hooks.url = wish.webhook_url ?? hooks.url
      terms.promptMs = wish.prompt_ms ?? terms.promptMs
    },
    book: () => [...charges.values()],
  }
}
