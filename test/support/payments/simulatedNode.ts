import type { PaymentDeps } from '../../../src/actions/payments/deps.ts'
import type { PayRequest } from '../../../src/actions/payments/pay.ts'
import type { ProviderAccount, ProviderTools } from '../../../src/core/provider/provider.ts'
import type { Order } from '../../../src/core/provider/order.ts'
import type { Reply } from '../../../src/core/provider/reply.ts'
import type { PaymentMethod } from '../../../src/core/provider/paymentMethod.ts'
import type { Mode } from '../../../src/core/mode.ts'
import { providerAccountsOf } from '../../../src/runtime/providerAccounts.ts'
import type { Db } from '../../../src/store/db.ts'
import { withOrderName, minutes } from './rows.ts'

export const simulatedMethod: PaymentMethod = {
  payment_method: 'mtn_mobile_money',
  label: 'MTN MoMo',
  badge: { text: 'MTN', background: '#ffcc00', ink: '#15201b' },
  currencies: ['GHS'],
  fields: [{ name: 'phone', kind: 'phone' }],
  next: 'prompt',
  lifetimeMs: minutes(5),
}

// What a provider says of itself.
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

// As a node with `simulatedNode` has it: identities are not kept there.
export const simulatedAccount = {
  account: 'simulated',
  mode: 'test',
  identity: null,
  identities: [],
} as const

// For providers that need none of it.
export const noTools: ProviderTools = {
  egress: {},
  clock: () => new Date(),
  token: () => Promise.reject(new Error('no token')),
}

// The provider is played; all else is the program.
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
    db,
    // Time goes by as the test says, so no call is ever late: one that never ends is a process that has died.
    providerAccounts: providerAccountsOf(new Map([['simulated', providerAccount]]), () => () => {}),
    baseUrl: () => 'https://pay.example',
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

// A line that says one thing to every order, and remembers them.
export function recordingAccount(answer: (order: Order) => Reply) {
  const started: Order[] = []
  const checked: Order[] = []
  const say = (orders: Order[]) => async (order: Order) => {
    orders.push(order)
    return Promise.resolve(answer(order))
  }
  return { started, checked, start: say(started), check: say(checked) }
}
