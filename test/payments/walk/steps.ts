import { hours, minutes, seconds } from '../../support/payments/rows.ts'
import { faultsAtRest, faultsOf, faultsOfTasks } from './faults.ts'
import { type Behaviour, plain } from './behaviours.ts'
import { type Entry, type Provider, rightCode } from './provider.ts'
import { rest } from './rest.ts'
import type { Rules } from './rules.ts'
import type { Leaving, Luck, Process } from './wire.ts'
import { createWorld, type World } from './world.ts'

// A step is one random number: its low part selects the action, the rest the details. fast-check shrinks a walk by
// leaving out numbers.
type Step = readonly [share: number, name: string, act: (world: World, roll: number) => void]

const share = (roll: number) => (roll % 1000) / 1000
const pick = <T>(all: readonly T[], roll: number) => all[roll % all.length]
const waits = [
  200,
  seconds(2),
  seconds(9),
  seconds(25),
  minutes(2),
  minutes(7),
  minutes(25),
  hours(1.5),
  hours(13),
]

const nodeOf = ({ nodes }: World, roll: number) => pick(nodes, roll) as Process
const leavingOf = (roll: number): Leaving =>
  roll % 16 === 0 ? 'dies' : roll % 16 === 1 ? 'refused' : 'leaves'
const luckOf = (roll: number): Luck => ({
  hidden: share(roll >> 3),
  isClear: roll % 9 > 0,
  isUnknown: roll % 11 === 0,
  asks: roll % 4 > 0,
  leaves: roll % 3 > 0,
})

function pay(world: World, roll: number) {
  const number = world.record.attempts.length + (roll % 8 === 0 ? 2 : roll % 8 === 1 ? 0 : 1)
  const provider = pick(world.providers, roll >> 3) as Provider
  world.pay(number, provider, nodeOf(world, roll >> 5), leavingOf(roll >> 6))
}

// Submits the right code or a wrong one, from the current page or an old one, sometimes by two clicks.
function type(world: World, roll: number) {
  const last = world.record.attempts.at(-1)
  if (!last) return
  const page = {
    number: last.number - (roll % 16 === 0 ? 1 : 0),
    submits: last.submits - (roll % 16 === 1 ? 1 : 0),
  }
  const code = (roll >> 4) % 3 > 0 ? rightCode : '000000'
  const clicks = (roll >> 6) % 4 === 0 ? 2 : 1
  for (let click = 0; click < clicks; click++)
    world.type(page, code, nodeOf(world, roll >> (7 + click)), leavingOf(roll >> 9))
}

function decide(world: World, roll: number) {
  const { wire, clock } = world
  const provider = pick(world.providers, roll >> 5) as Provider
  const entry = pick([...provider.orders.values()], roll >> 8)
  if (!entry) return
  const id = entry.reference
  const ms = clock().getTime()
  const wasCharged = roll % 3 > 0 && provider.charge(id, ms, roll % 16 === 1)
  if (wasCharged || provider.refuse(id, ms)) wire.push({ kind: 'callback', id })
}

// A refused order is charged after another attempt has paid: rare, and the most dangerous case.
function turn({ record, providers, wire, clock }: World, roll: number) {
  if (record.payment.status !== 'paid') return
  const ms = clock().getTime()
  const late = providers.flatMap(provider =>
    [...provider.orders.values()]
      .filter(entry => entry.truth === 'refused' && provider.canCome(entry, ms))
      .map(({ reference }) => ({ provider, reference })),
  )
  const one = pick(late, roll)
  if (one?.provider.charge(one.reference, ms)) wire.push({ kind: 'callback', id: one.reference })
}

// Refunds or disputes a charge, and sends no webhook, one or two.
function takeBack({ providers, wire }: World, roll: number) {
  const provider = pick(providers, roll >> 5) as Provider
  const charged = [...provider.orders.values()].filter(({ truth }) => truth === 'charged')
  const entry = pick(charged, roll >> 8)
  if (!entry) return
  const isDone =
    roll % 2
      ? provider.refund(entry.reference, roll % 4 === 1)
      : provider.dispute(entry.reference, roll % 4 === 0)
  if (!isDone) return
  for (let times = roll % 3; times > 0; times--) wire.push({ kind: 'refund_webhook', id: entry.reference })
}

// Delivers messages in any order. Some are lost, and callbacks and replies may be delivered twice; requests to a provider
// are delivered once.
function bring(world: World, roll: number) {
  const { wire, entryOf } = world
  const at = wire.length > 0 ? Math.floor(share(roll >> 8) ** 2 * wire.length) : -1 // mostly the oldest
  const message = wire[at]
  if (!message) return
  const isSure = message.kind === 'callback' && entryOf(message.id)?.callsBack === true
  const isSent = message.kind === 'order' || message.kind === 'typed' || message.kind === 'question'
  if (roll % 16 > 0 || isSent) wire.splice(at, 1)
  if (roll % 16 < 15 || isSure) world.deliver(message, luckOf(roll))
}

function giveUp(world: World, roll: number) {
  const number = world.record.attempts.length - (roll % 8 === 0 ? 1 : 0)
  world.giveUp(number, nodeOf(world, roll >> 3), (roll >> 4) % 3 > 0)
}

export const steps: readonly Step[] = [
  [4, 'pay', pay],
  [5, 'type', type],
  [1, 'give up', (world, roll) => (roll >> 9) % 2 && giveUp(world, roll)],
  [1, 'cancel', ({ end }, roll) => roll % 6 === 0 && end('customer')],
  [7, 'ask', (world, roll) => world.ask(nodeOf(world, roll))],
  [18, 'deliver', bring],
  [5, 'decide', decide],
  [1, 'turn', turn],
  [1, 'take back', takeBack],
  [1, 'crash', ({ crash }, roll) => crash(roll % 2 ? 0 : 1)],
  [1, 'expire', ({ end }) => end('clock')],
  [1, 'repeat the request', ({ repeat }) => repeat()],
  [6, 'wait', ({ wait }, roll) => wait(waits[Math.floor(share(roll) ** 3 * waits.length)] as number)],
]
const drawn = steps.flatMap(step => Array.from({ length: step[0] }, () => step))

// These change more than the payment's record.
const others = new Set(['deliver', 'decide', 'turn', 'take back', 'wait'])

const plainOnes = (roll: number): Behaviour[] => [{ ...plain, canWithdraw: roll % 3 > 0 }]

// Returns the violated rules after some step, with the steps up to there; an empty list if all rules hold.
export function walk(
  numbers: readonly number[],
  seen = new Set<string>(),
  behavioursOf: (roll: number) => readonly Behaviour[] = plainOnes,
  rules?: Rules,
): string[] {
  const world = createWorld(behavioursOf(numbers[0] ?? 0), rules)
  const story: string[] = []
  for (const number of numbers) {
    const [, name, act] = pick(drawn, number) as Step
    const before = { ...world.record }
    act(world, Math.floor(number / drawn.length))
    story.push(name)
    const isIdle = before.payment === world.record.payment && before.attempts === world.record.attempts
    const faults = isIdle && !others.has(name) ? world.broken : faultsNow(world)
    if (faults.length > 0) return [...faults, ...story, picture(world)]
  }
  rest(world, numbers[1] ?? 0)
  lookAround(world, seen)
  const left = [...faultsNow(world), ...faultsAtRest(world.record, world.orders(), world.clock())]
  return left.length > 0 ? [...left, ...story, 'rest', picture(world)] : []
}

function faultsNow(world: World): string[] {
  const { broken, record, providers, orders, clock } = world
  const ms = clock().getTime()
  const closing = providers.filter(({ behaviour }) => behaviour.isClosing)
  const comes = (entry: Entry) =>
    closing.some(({ orders: own, canCome }) => own.get(entry.reference) === entry && canCome(entry, ms))
  const twice = providers
    .filter(({ behaviour }) => !behaviour.startIsIdempotent)
    .flatMap(provider => [...provider.orders.values()])
    .filter(({ starts }) => starts > 1)
    .map(({ reference }) => `${reference} was sent again, although starts are not idempotent`)
  return [
    ...broken,
    ...faultsOf(record, orders(), comes),
    ...faultsOfTasks(record, orders()),
    ...twice,
    ...modelFaults(world),
  ]
}

function lookAround({ record, orders }: World, seen: Set<string>) {
  for (const { kind, to_status, cause } of record.events) seen.add(`${to_status ?? kind} by ${cause}`)
  for (const { kind } of record.tasks) seen.add(`task ${kind}`)
  for (const [at, { reason, gave_up_at, provider_account: provider }] of record.attempts.entries()) {
    if (reason === 'withdrawn' || reason === 'never_arrived' || reason === 'reversed') seen.add(reason)
    const next = record.attempts[at + 1]
    if (gave_up_at && next) seen.add('went on after giving up')
    if (next && next.provider_account !== provider) seen.add('went on by the other provider')
  }
  for (const { truth, wasRefused, code, wrongCodes } of orders().values()) {
    if (truth === 'charged' && wasRefused) seen.add('a no that turned')
    if (code === 'taken') seen.add(`a right code after ${Math.min(wrongCodes, 1)} wrong ones`)
  }
}

const picture = ({ record, orders, clock }: World) =>
  [
    `${clock().toISOString()} ${record.payment.status}`,
    ...record.attempts.map(
      a => `${a.attempt_id} ${a.provider_account} ${a.state}, asked next ${a.next_poll_at?.toISOString()}`,
    ),
    ...[...orders().values()].map(({ reference, truth }) => `${reference} ${truth} in the orders`),
    ...record.events.map(e => `${e.at.toISOString()} ${e.kind} ${e.attempt_id} ${e.to_status ?? ''}`),
  ].join('\n')

function modelFaults({ record, table }: World): string[] {
  const { payment, tasks, attempts } = record
  const givenUp = attempts.filter(({ gave_up_at }) => gave_up_at !== null).map(a => a.attempt_id)
  const meant = [...table.tries].filter(([, { gaveUp }]) => gaveUp).map(([id]) => id)
  const raised = (kind: string) => tasks.filter(task => task.kind === kind).map(task => task.attempt_id)
  const asking = attempts.filter(({ state }) => state === 'needs_input').map(a => a.attempt_id)
  const asked = [...table.tries].filter(([, one]) => one.open && one.asks && !one.disputed).map(([id]) => id)
  const paying = [...table.moneyBack].some(one => one.startsWith(`${table.payer} reversed`))
  const reversed = new Set([...table.undone, ...(paying && table.payer ? [table.payer] : [])])
  const recorded = [
    ...record.reversals.map(({ attempt_id, reversal_id }) => `${attempt_id} reversed ${reversal_id}`),
    ...record.disputes.map(({ attempt_id, dispute_id, state }) => `${attempt_id} ${state} ${dispute_id}`),
  ]
  const isRecorded = (one: string) => recorded.includes(one) || / open /.test(one)
  return [
    payment.status !== table.status && `${payment.status}, the model says ${table.status}`,
    payment.late !== table.late && `late is ${payment.late}`,
    (payment.cancel_requested_at !== null) !== table.cancelRequested &&
      `cancelRequested is ${table.cancelRequested}`,
    givenUp.join() !== meant.join() && 'others were given up than the model says',
    asking.join() !== asked.join() && `${asking.join()} ask for more, the model says ${asked.join()}`,
    raised('refund').join() !== [...table.refunds].join() && 'other refunds than the model',
    raised('amount_mismatch').toSorted().join() !== [...table.mismatches].toSorted().join() &&
      'other mismatches',
    raised('reversed').toSorted().join() !== [...reversed].toSorted().join() && 'other tasks of reversals',
    recorded.some(one => !table.moneyBack.has(one)) && 'records that the model does not have',
    [...table.moneyBack].some(one => !isRecorded(one)) && 'refunds or disputes that were not recorded',
  ].filter(fault => fault !== false)
}
