import { minutes } from '../../support/payments/rows.ts'
import type { Entry, Provider } from './provider.ts'
import { goodLuck } from './wire.ts'
import type { World } from './world.ts'

const mostTurns = 500

// Ends a walk: messages in transit are lost with the nodes, the providers decide, and everything that is due is polled.
// Some refusals become charges at the last possible moment.
export function rest(world: World, roll: number) {
  const { record, wire, providers, entryOf, clock, wait } = world
  const isSure = (id: string) => entryOf(id)?.callsBack === true
  const callbacks = wire.splice(0).filter(({ kind, id }) => kind === 'callback' && isSure(id))
  for (const callback of callbacks) world.deliver(callback, goodLuck)
  wait(minutes(4))
  for (const { behaviour, orders, refuse } of providers)
    if (!behaviour.isClosing) for (const { reference } of orders.values()) refuse(reference)
  const delivered = new Set<string>()
  const isWaitedFor = (id: string) => {
    const attempt = record.attempts.find(({ attempt_id }) => attempt_id === id)
    if (!attempt?.next_poll_at) return false
    return attempt.state !== 'disputed' || !delivered.has(id)
  }
  const until = (ms: number) => wait(Math.max(0, ms - clock().getTime()))
  for (let turn = 0; turn < mostTurns; turn++) {
    const due = record.attempts
      .filter(({ attempt_id }) => isWaitedFor(attempt_id))
      .map(({ next_poll_at }) => Number(next_poll_at))
    const turning = nextTurning(providers, clock().getTime(), roll)
    if (due.length === 0 && !turning) break
    if (turning && turning.last < Math.min(...due)) {
      until(turning.last)
      turning.charge()
      continue
    }
    until(Math.min(...due))
    world.ask(world.nodes[0])
    for (let message = wire.shift(); message; message = wire.shift()) {
      delivered.add(message.id)
      world.deliver(message, goodLuck)
    }
  }
  until(record.payment.expires_at.getTime())
  world.end('clock')
}

// The next refusal that becomes a charge; every second one does.
function nextTurning(providers: readonly Provider[], now: number, roll: number) {
  return providers
    .filter(({ behaviour }) => behaviour.isClosing)
    .flatMap(({ behaviour, orders, canCome, charge }) =>
      [...orders.values()]
        .filter(entry => entry.truth === 'refused' && canCome(entry, now) && isChosen(entry, roll))
        .map(({ reference, refusedAt }) => {
          const last = refusedAt + behaviour.failureMayReverseForMs - 1
          return { last, charge: () => charge(reference, last) }
        }),
    )
    .toSorted((one, other) => one.last - other.last)[0]
}

const isChosen = ({ reference }: Entry, roll: number) => (Number(reference.at(-1)) + roll) % 2 === 0
