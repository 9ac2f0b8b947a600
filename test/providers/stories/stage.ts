import type {
  ProviderAccount,
  Provider,
  ProviderSettings,
  ProviderTools,
} from '../../../src/core/provider/provider.ts'
import type { Order } from '../../../src/core/provider/order.ts'
import type { RefundOrder } from '../../../src/core/provider/refundOrder.ts'
import type { PaymentMethod } from '../../../src/core/provider/paymentMethod.ts'
import type { Webhook } from '../../../src/core/provider/webhook.ts'
import { type GuardedAccount, guardAccount } from '../../../src/runtime/providers/guard.ts'
import { type Timer, timerOf } from '../../../src/runtime/deadline.ts'
import type { Line } from '../client.ts'
import { anOrder } from '../order.ts'
import { refundOf } from '../refundOrder.ts'

// A provider, lines to it that can misbehave, and a customer. What is optional, a provider may have no use for.
export type Bench = {
  newLine(): Promise<Line>
  settings(url: string): ProviderSettings // that make the provider speak to this address
  given(method: PaymentMethod): Record<string, string> // by a customer who will decide in person
  told?: Partial<Order> // what else an order must tell
  approve(order: Order): Promise<unknown>
  decline(order: Order): Promise<unknown>
  charges(order: Order): Promise<number> // in the provider's books, by the order's key
  unknownCode(text: string): string // the provider's answer, with a status that nobody knows
  otherAmount(text: string, amount: string): string
  otherOrder(text: string): string // the provider's answer about another order
  expireTokens?(): Promise<unknown> // those that the provider has given are refused from now on
  steps?: StepBench
  refunds?: RefundBench // if the provider has refunds
  webhook?(order: Order, account?: 'another'): Webhook // about the order, signed by this account or another
  wrongSettings?: readonly { settings: ProviderSettings; words: RegExp }[] // and what `test` says of them
  stop(): Promise<void>
}

// What the provider does with a refund that it has accepted: nothing, until it is told to.
export type RefundBench = {
  finish(refund: RefundOrder): Promise<unknown>
  fail(refund: RefundOrder): Promise<unknown>
  count(refund: RefundOrder): Promise<number> // in the provider's books, by the refund's own id
  otherRefund(text: string): string // the provider's answer about another refund
}

// An order that asks for a step, for the ways that can, and what a customer then types.
export type StepBench = {
  given(method: PaymentMethod): Record<string, string> | undefined
  wrong: Record<string, string>
  right: Record<string, string>
}

export type Connected = {
  line: Line
  raw: ProviderAccount
  account: GuardedAccount // as the house uses it
  order(method: PaymentMethod, changes?: Partial<Order>): Order
  refundOf(order: Order, changes?: Partial<RefundOrder>): RefundOrder
}

export type Stage = {
  name: string
  kind: Provider
  settings: ProviderSettings // that make a provider
  methods: readonly PaymentMethod[]
  bench(): Bench
  connect(wrong?: ProviderSettings, timer?: (line: Line) => Timer): Promise<Connected>
  said: string[] // all that the provider has answered or thrown, on every line
  stop(): Promise<void> // of the lines
}

export const tools: ProviderTools = {
  egress: {},
  clock: () => new Date(),
  token: async (make, signal) => (await make(signal)).token,
}

export function stageOf(name: string, kind: Provider, settings: ProviderSettings, bench: () => Bench): Stage {
  const said: string[] = []
  const lines: Line[] = []
  const { methods } = kind.open(settings, tools)
  // Each test has a line of its own, so that those that wait wait side by side.
  async function connect(
    wrong: ProviderSettings = {},
    timer: (line: Line) => Timer = patient,
  ): Promise<Connected> {
    const line = await bench().newLine()
    lines.push(line)
    const raw = recorded(kind.open({ ...bench().settings(line.url), ...wrong }, tools), said)
    const providerAccount = guardAccount(raw, timer(line))
    const order = (method: PaymentMethod, changes: Partial<Order> = {}) => {
      const plain = newOrder(method, bench().given(method), { ...bench().told, ...changes })
      return {
        ...plain,
        idempotency_key: providerAccount.newIdempotencyKey(plain.attempt_id) ?? plain.attempt_id,
      }
    }
    const refund = (sent: Order, changes: Partial<RefundOrder> = {}) => {
      const plain = refundOf(sent, changes)
      const idempotency_key = providerAccount.refunds?.newIdempotencyKey(plain.refund_reference)
      return { ...plain, idempotency_key: idempotency_key ?? plain.refund_reference }
    }
    return { line, raw, account: providerAccount, order, refundOf: refund }
  }
  const stop = async () => void (await Promise.all(lines.map(line => line.stop())))
  return { name, kind, settings, methods, bench, connect, said, stop }
}

// Nothing here is found out by waiting for a deadline, and a slow machine meets none.
const patient = (): Timer => timerOf(50_000)

// What it says is kept, to be searched for what is private.
function recorded(providerAccount: ProviderAccount, said: string[]): ProviderAccount {
  const keep = async <T>(work: Promise<T>): Promise<T> => {
    try {
      const told = await work
      said.push(
        JSON.stringify(told, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
      )
      return told
    } catch (error) {
      said.push(error instanceof Error ? `${error.stack} ${String(error.cause)}` : String(error))
      throw error
    }
  }
  const { start, check, submit, giveUp, refunds, checkCredentials: test } = providerAccount
  type Ask<O, R> = (order: O, signal: AbortSignal) => Promise<R>
  const kept =
    <O, R>(ask: Ask<O, R>): Ask<O, R> =>
    (order, signal) =>
      keep(ask(order, signal))
  return {
    ...providerAccount,
    start: kept(start),
    check: kept(check),
    ...(giveUp && { giveUp: kept(giveUp) }),
    ...(refunds && {
      refunds: { ...refunds, refund: kept(refunds.refund), checkRefund: kept(refunds.checkRefund) },
    }),
    ...(submit && { submit: (order, step, input, signal) => keep(submit(order, step, input, signal)) }),
    ...(test && { checkCredentials: signal => keep(test(signal)) }),
  }
}

export const newOrder = (
  method: PaymentMethod,
  given: Record<string, string>,
  changes: Partial<Order> = {},
): Order => anOrder(method.payment_method, { given, ...changes })
