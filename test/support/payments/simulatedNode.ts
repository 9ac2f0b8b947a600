import type { PayRequest } from '../../../src/actions/payments/pay.ts'
import type { Mode } from '../../../src/core/mode.ts'
import type { Order } from '../../../src/core/provider/order.ts'
import type { PaymentMethod } from '../../../src/core/provider/paymentMethod.ts'
import type { ProviderAccount, ProviderTools } from '../../../src/core/provider/provider.ts'
import type { Reply } from '../../../src/core/provider/reply.ts'
import type { PaymentDeps } from '../../../src/runtime/runtime.ts'
import type { Db } from '../../../src/store/db.ts'
import { changesOn } from '../gateway/runtime.ts'
import { minutes, withOrderName } from './rows.ts'
import { fixedAccounts } from './fixedAccounts.ts'

export const simulatedMethod: PaymentMethod = {
  payment_method: 'mtn_mobile_money',
  label: 'MTN MoMo',
  badge: { text: 'MTN', background: '#ffcc00', ink: '#15201b' },
  currencies: ['GHS'],
  fields: [{ name: 'phone', kind: 'phone' }],
  next: 'prompt',
  lifetimeMs: minutes(5),
}

// What a provider declares about itself.
type Terms = Pick<
  ProviderAccount,
  'account' | 'startIsIdempotent' | 'visibleWithinMs' | 'failureMayReverseForMs'
>
export const terms: Terms = {
  account: 'simulated',
  startIsIdempotent: true,
  visibleWithinMs: minutes(5),
  failureMayReverseForMs: minutes(120),
}

// The account of `simulatedNode`, which has no stored identity.
export const simulatedAccount = {
  account: 'simulated',
  mode: 'test',
  identity: null,
  identities: [],
} as const

// For providers that need no tools.
export const noTools: ProviderTools = {
  egress: {},
  clock: () => new Date(),
  token: () => Promise.reject(new Error('no token')),
}

// Only the provider is simulated; everything else is the program.
export function simulatedNode(
  db: Db,
  clock: () => Date,
  account: Pick<ProviderAccount, 'start' | 'check'> & Partial<ProviderAccount>,
  mode: Mode = 'test',
): PaymentDeps {
  const { giveUp } = account
  const providerAccount: ProviderAccount = {
    mode,
    methods: [simulatedMethod],
    ...terms,
    ...account,
    start: async (order, signal) => withOrderName(order, await account.start(order, signal)),
    check: async (order, signal) => withOrderName(order, await account.check(order, signal)),
    ...(giveUp && {
      giveUp: async (order: Order, signal: AbortSignal) => withOrderName(order, await giveUp(order, signal)),
    }),
  }
  return {
    ...changesOn(db),
    // The test controls the clock, so no call times out: a call that never ends stands for a crashed process.
    providerAccounts: fixedAccounts(new Map([['simulated', providerAccount]]), () => () => {}),
    baseUrl: () => 'https://pay.example',
    timeZone: 'UTC',
    clock,
    watch() {},
    wake() {},
  }
}

export const aPayRequest = (changed: Partial<PayRequest> = {}): PayRequest => ({
  number: 1,
  payment_method: 'mtn_mobile_money',
  input: { phone: '0240000000' },
  cause: 'customer',
  address: '192.0.2.1',
  ...changed,
})

// An account that gives the same reply to every order, and records the orders.
export function recordingAccount(answer: (order: Order) => Reply) {
  const started: Order[] = []
  const checked: Order[] = []
  const say = (orders: Order[]) => async (order: Order) => {
    orders.push(order)
    return Promise.resolve(answer(order))
  }
  return { started, checked, start: say(started), check: say(checked) }
}
