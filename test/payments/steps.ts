import { hours, minutes, seconds } from '../support/lifeRows.ts'
import { faultsAtRest, faultsOf } from './faults.ts'
import { createWorld, type World } from './world.ts'

// One step is one number: its low bits choose what happens, the others how. fast-check shrinks a walk by leaving
// numbers out.
type Step = readonly [share: number, name: string, act: (world: World, dice: number) => void]

const share = (dice: number) => (dice % 1000) / 1000
const pick = <T>(all: readonly T[], dice: number) => all[dice % all.length]
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

function decide(world: World, dice: number) {
  const { provider, wire, clock } = world
  const entry = pick([...provider.books.values()], dice >> 8)
  if (!entry) return
  const id = entry.reference
  const wasCharged = dice % 3 > 0 && provider.charge(id, clock().getTime(), dice % 16 === 1)
  if (wasCharged || provider.refuse(id)) wire.push({ kind: 'callback', id })
}

// Delivered in any order; some are lost, and some come again.
function bring(world: World, dice: number) {
  const { wire, provider } = world
  const at = wire.length > 0 ? (dice >> 8) % wire.length : -1
  const message = wire[at]
  if (!message) return
  const isSure = provider.books.get(message.id)?.knocks === true && message.kind === 'callback'
  if (dice % 8 > 0) wire.splice(at, 1)
  if (dice % 8 < 7 || isSure) world.deliver(message, share(dice >> 3), dice % 5 > 0)
}

export const steps: readonly Step[] = [
  [
    3,
    'pay',
    ({ pay, life }, dice) =>
      pay(life.attempts.length + (dice % 8 === 0 ? 2 : dice % 8 < 3 ? 0 : 1), dice % 5 > 0),
  ],
  [
    2,
    'give up',
    ({ giveUp, life }, dice) =>
      giveUp(life.attempts.length - (dice % 8 === 0 ? 1 : 0), dice % 4 > 0, (dice >> 4) % 3 > 0),
  ],
  [1, 'cancel', ({ end }, dice) => dice % 3 === 0 && end('customer')],
  [7, 'ask', ({ ask }, dice) => ask(dice % 4 > 0, dice % 3 > 0)],
  [9, 'deliver', bring],
  [5, 'decide', decide],
  [1, 'expire', ({ end }) => end('clock')],
  [1, 'repeat the request', ({ repeat }) => repeat()],
  [6, 'wait', ({ wait }, dice) => wait(waits[Math.floor(share(dice) ** 2 * waits.length)] as number)],
]
const drawn = steps.flatMap(step => Array.from({ length: step[0] }, () => step))

// Gives back what does not hold after some step, with the story up to there; nothing when all is well.
export function walk(numbers: readonly number[], seen = new Set<string>()): string[] {
  const world = createWorld((numbers[0] ?? 0) % 3 > 0)
  const { life, provider, broken } = world
  const story: string[] = []
  const faults = () => [...broken, ...faultsOf(life, provider.books), ...modelFaults(world)]
  for (const number of numbers) {
    const [, name, act] = pick(drawn, number) as Step
    act(world, Math.floor(number / drawn.length))
    story.push(name)
    if (faults().length > 0) return [...faults(), ...story, picture(world)]
  }
  rest(world)
  for (const { kind, to_status, cause } of life.events) seen.add(`${to_status ?? kind} by ${cause}`)
  for (const { kind } of life.tasks) seen.add(`task ${kind}`)
  for (const [at, { reason, gave_up_at }] of life.attempts.entries()) {
    if (reason === 'withdrawn') seen.add(reason)
    if (gave_up_at && life.attempts[at + 1]) seen.add('went on after giving up')
  }
  const left = [...faults(), ...faultsAtRest(life, provider.books, world.clock())]
  return left.length > 0 ? [...left, ...story, 'rest', picture(world)] : []
}

const picture = ({ life, provider, clock }: World) =>
  [
    `${clock().toISOString()} ${life.payment.status}`,
    ...life.attempts.map(a => `${a.attempt_id} ${a.state}, asked next ${a.next_ask_at?.toISOString()}`),
    ...[...provider.books.values()].map(({ reference, truth }) => `${reference} ${truth} in the books`),
    ...life.events.map(e => `${e.at.toISOString()} ${e.kind} ${e.attempt_id} ${e.to_status ?? ''}`),
  ].join('\n')

function modelFaults({ life, table }: World): string[] {
  const { payment, tasks, attempts } = life
  const givenUp = attempts.filter(({ gave_up_at }) => gave_up_at !== null).map(a => a.attempt_id)
  const meant = [...table.tries].filter(([, { gaveUp }]) => gaveUp).map(([id]) => id)
  const raised = (kind: string) => tasks.filter(task => task.kind === kind).map(task => task.attempt_id)
  return [
    payment.status !== table.status && `${payment.status}, the model says ${table.status}`,
    payment.late !== table.late && `late is ${payment.late}`,
    (payment.cancel_wished_at !== null) !== table.wished && `wished is ${table.wished}`,
    givenUp.join() !== meant.join() && 'others were given up than the model says',
    raised('refund').join() !== [...table.refunds].join() && 'other refunds than the model',
    raised('amount_mismatch').toSorted().join() !== [...table.mismatches].toSorted().join() &&
      'other mismatches',
  ].filter(fault => fault !== false)
}

// What was on its way is lost, the provider makes up its mind, and everything is asked that is due.
function rest(world: World) {
  const { life, wire, provider, clock, wait } = world
  const isSure = (id: string) => provider.books.get(id)?.knocks === true
  const callbacks = wire.splice(0).filter(({ kind, id }) => kind === 'callback' && isSure(id))
  for (const callback of callbacks) world.deliver(callback, 0, true)
  wait(minutes(4))
  for (const { reference } of provider.books.values()) provider.refuse(reference)
  const told = new Set<string>()
  const isWaitedFor = (id: string) => {
    const attempt = life.attempts.find(({ attempt_id }) => attempt_id === id)
    if (!attempt?.next_ask_at) return false
    return attempt.state !== 'disputed' || !told.has(id)
  }
  for (let turn = 0; turn < 500; turn++) {
    const due = life.attempts
      .filter(({ attempt_id }) => isWaitedFor(attempt_id))
      .map(a => a.next_ask_at as Date)
    if (due.length === 0) break
    wait(Math.max(0, Math.min(...due.map(Number)) - clock().getTime()))
    world.ask(true, true)
    for (const message of wire.splice(0)) {
      told.add(message.id)
      world.deliver(message, 0, true)
    }
  }
  wait(Math.max(0, life.payment.expires_at.getTime() - clock().getTime()))
  world.end('clock')
}
