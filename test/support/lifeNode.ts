import type { PaymentDeps } from '../../src/actions/payments/deps.ts'
import type { Wish } from '../../src/actions/payments/pay.ts'
import type { Channel, ChannelTools } from '../../src/core/channel/channel.ts'
import type { Order } from '../../src/core/channel/order.ts'
import type { Reply } from '../../src/core/channel/reply.ts'
import type { Way } from '../../src/core/channel/way.ts'
import type { Mode } from '../../src/core/mode.ts'
import { channelsOf } from '../../src/runtime/channels.ts'
import type { Db } from '../../src/store/db.ts'
import { inItsName, minutes } from './lifeRows.ts'

export const simulatedWay: Way = {
  payment_method: 'mtn_mobile_money',
  label: 'MTN MoMo',
  badge: { text: 'MTN', background: '#ffcc00', ink: '#15201b' },
  currencies: ['GHS'],
  fields: [{ name: 'phone', kind: 'phone' }],
  next: 'prompt',
  livesForMs: minutes(5),
}

// What a channel says of itself.
type Terms = Pick<Channel, 'account' | 'startIsIdempotent' | 'visibleWithinMs' | 'noMayTurnForMs'>
export const terms: Terms = {
  account: 'simulated',
  startIsIdempotent: true,
  visibleWithinMs: minutes(5),
  noMayTurnForMs: minutes(120),
}

// As a node with `simulatedNode` has it: identities are not kept there.
export const simulatedAccount = {
  account: 'simulated',
  mode: 'test',
  identity: null,
  identities: [],
} as const

// For channels that need none of it.
export const noTools: ChannelTools = {
  egress: {},
  clock: () => new Date(),
  token: () => Promise.reject(new Error('no token')),
}

// The provider is played; all else is the program.
export function simulatedNode(
  db: Db,
  clock: () => Date,
  line: Pick<Channel, 'start' | 'check'> & Partial<Channel>,
  mode: Mode = 'test',
): PaymentDeps {
  const { giveUp } = line
  const channel: Channel = {
    mode,
    ways: [simulatedWay],
    ...terms,
    ...line,
    start: async (order, signal) => inItsName(order, await line.start(order, signal)),
    check: async (order, signal) => inItsName(order, await line.check(order, signal)),
    ...(giveUp && {
      giveUp: async (order: Order, signal: AbortSignal) => inItsName(order, await giveUp(order, signal)),
    }),
  }
  return {
    db,
    // Time goes by as the test says, so no call is ever late: one that never ends is a process that has died.
    channels: channelsOf(new Map([['simulated', channel]]), () => () => {}),
    baseUrl: () => 'https://pay.example',
    clock,
    watch() {},
    wake() {},
  }
}

export const aWish = (changed: Partial<Wish> = {}): Wish => ({
  number: 1,
  payment_method: 'mtn_mobile_money',
  typed: { phone: '0240000000' },
  cause: 'customer',
  address: '192.0.2.1',
  ...changed,
})

// A line that says one thing to every order, and remembers them.
export function recordingLine(answer: (order: Order) => Reply) {
  const started: Order[] = []
  const checked: Order[] = []
  const say = (orders: Order[]) => async (order: Order) => {
    orders.push(order)
    return Promise.resolve(answer(order))
  }
  return { started, checked, start: say(started), check: say(checked) }
}
