// The life of a payment as the answers' table tells it, written from the table and not from the program: what may
// follow what, and what each piece of news does.
export type Status = 'awaiting_payment' | 'paid' | 'failed' | 'cancelled'
export type News =
  | 'yes'
  | 'other_amount'
  | 'no'
  | 'pending'
  | 'asks'
  | 'taken'
  | 'unclear'
  | 'never_there'
  | 'undone'

export const arrows: readonly `${Status} > ${Status}`[] = [
  'awaiting_payment > paid',
  'awaiting_payment > failed',
  'awaiting_payment > cancelled',
  'failed > awaiting_payment',
  'failed > cancelled',
  'failed > paid',
  'cancelled > awaiting_payment',
  'cancelled > paid',
]

type Try = {
  open: boolean
  known: boolean
  paid: boolean
  disputed: boolean
  gaveUp: boolean
  asks: boolean // for something that the customer has to type
  typed: number // how often that was done
  typedMs: number // when it was done last
}

export type Model = {
  status: Status
  late: boolean
  wished: boolean // to cancel
  tries: Map<string, Try>
  refunds: Set<string>
  mismatches: Set<string>
  payer?: string // the try that paid
  undone: Set<string> // tries whose charge was wholly refunded before it was reported paid
  moneyBack: Set<string> // each refund, and each state of each dispute, of a try
}

export const newModel = (): Model => ({
  status: 'awaiting_payment',
  late: false,
  wished: false,
  tries: new Map(),
  refunds: new Set(),
  mismatches: new Set(),
  undone: new Set(),
  moneyBack: new Set(),
})

export const isOpen = (model: Model) => [...model.tries.values()].some(({ open }) => open)

export const mayBegin = (model: Model) =>
  !isOpen(model) && !model.wished && (model.status === 'awaiting_payment' || model.status === 'failed')

export function begin(model: Model, id: string) {
  const nothing = {
    known: false,
    paid: false,
    disputed: false,
    gaveUp: false,
    asks: false,
    typed: 0,
    typedMs: 0,
  }
  model.tries.set(id, { ...nothing, open: true })
  model.status = 'awaiting_payment'
}

// `isOld`: it answers a question from before what the customer typed last.
export function tell(model: Model, id: string, news: News, isOld = false) {
  const one = model.tries.get(id)
  if (!one || one.paid) return
  if (news === 'yes') yes(model, id, one)
  if (news === 'other_amount') {
    model.mismatches.add(id)
    one.disputed ||= one.open
  }
  if ((news === 'pending' || news === 'asks') && one.open) {
    one.known = true
    if (!isOld) one.asks = news === 'asks'
  }
  if (news === 'taken') one.known = true
  if (news === 'never_there' && one.open && !one.known && !one.disputed) no(model, one)
  if (news === 'undone') model.undone.add(id)
  if ((news === 'no' || news === 'undone') && one.open) no(model, one) // undone: charged and wholly refunded
}

function yes(model: Model, id: string, one: Try) {
  one.open = false
  one.paid = true
  if (model.status === 'paid') {
    model.refunds.add(id)
    return
  }
  model.payer = id
  model.late = model.status !== 'awaiting_payment'
  model.status = 'paid'
}

function no(model: Model, one: Try) {
  one.open = false
  if (model.status !== 'awaiting_payment') return
  if (model.wished) model.status = 'cancelled'
  else if (!one.gaveUp) model.status = 'failed'
}

const waitSeconds = [0, 5, 15, 30, 60] // before the first submission, the second, ...: there is no sixth

// Only what the provider asks for can be typed, and only into the page that asks for it now: each asking is answered once.
// Five submissions of one try in all, with growing waits.
export function mayType(model: Model, id: string, typed: number, atMs: number): boolean {
  const one = model.tries.get(id)
  if (!one?.open || !one.asks || one.disputed || one.gaveUp || one.typed !== typed) return false
  const wait = waitSeconds[typed]
  if (wait === undefined || atMs - one.typedMs < wait * 1000) return false
  return !model.wished && model.status === 'awaiting_payment'
}

export function type(model: Model, id: string, atMs: number) {
  const one = model.tries.get(id)
  if (!one) return
  one.asks = false
  one.typed++
  one.typedMs = atMs
}

// The customer goes on without it, once its provider has ended it.
export function giveUp(model: Model, id: string) {
  const one = model.tries.get(id)
  if (!one?.open || one.disputed || model.wished || model.status !== 'awaiting_payment') return
  one.gaveUp = true
}

export function cancel(model: Model) {
  if (isOpen(model)) model.wished ||= model.status === 'awaiting_payment'
  else if (model.status === 'awaiting_payment' || model.status === 'failed') model.status = 'cancelled'
}

// Refunds and disputes of a charge, each once. Of one that is not paid, refunds and losses are recorded.
export function moneyBack(model: Model, id: string, { reversals = [], disputes = [] }: PaidReply) {
  for (const one of reversals) model.moneyBack.add(`${id} reversed ${one.id}`)
  const isPaid = model.tries.get(id)?.paid
  for (const one of disputes.filter(({ state }) => isPaid || state === 'lost')) {
    const isResolved = ['won', 'lost'].some(state => model.moneyBack.has(`${id} ${state} ${one.id}`))
    if (!isResolved) model.moneyBack.add(`${id} ${one.state} ${one.id}`)
  }
}
type PaidReply = {
  reversals?: readonly { id: string }[]
  disputes?: readonly { id: string; state: string }[]
}

const mostTries = 10

// The merchant sends its request again after the end: only where nobody can have paid, and somebody could.
export function reopen(model: Model) {
  if (model.status === 'paid' || isOpen(model)) return
  if (model.mismatches.size > 0 || model.undone.size > 0 || model.tries.size >= mostTries) return
  model.status = 'awaiting_payment'
  model.wished = false
}

// The time is over.
export function expire(model: Model) {
  if (model.status === 'awaiting_payment' && !isOpen(model)) model.status = 'failed'
}
