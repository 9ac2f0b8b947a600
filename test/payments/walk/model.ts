// The states of a payment as the documented table of replies defines them. This model is written from the table, not
// from the program: which status may follow which, and what each reply does.
export type Status = 'awaiting_payment' | 'paid' | 'failed' | 'cancelled'
export type Report =
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
  cancelRequested: boolean // to cancel
  tries: Map<string, Try> // by attempt_id
  refunds: Set<string>
  mismatches: Set<string>
  payer?: string // the try that paid
  undone: Set<string> // tries whose charge was wholly refunded before it was reported paid
  moneyBack: Set<string> // each refund, and each state of each dispute, of a try
}

export const newModel = (): Model => ({
  status: 'awaiting_payment',
  late: false,
  cancelRequested: false,
  tries: new Map(),
  refunds: new Set(),
  mismatches: new Set(),
  undone: new Set(),
  moneyBack: new Set(),
})

export const isOpen = (model: Model) => [...model.tries.values()].some(({ open }) => open)

export const mayBegin = (model: Model) =>
  !isOpen(model) &&
  !model.cancelRequested &&
  (model.status === 'awaiting_payment' || model.status === 'failed')

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

// `isOld`: the reply answers a request that was sent before the customer's last submission.
export function applyReport(model: Model, id: string, report: Report, isOld = false) {
  const one = model.tries.get(id)
  if (!one || one.paid) return
  if (report === 'yes') yes(model, id, one)
  if (report === 'other_amount') {
    model.mismatches.add(id)
    one.disputed ||= one.open
  }
  if ((report === 'pending' || report === 'asks') && one.open) {
    one.known = true
    if (!isOld) one.asks = report === 'asks'
  }
  if (report === 'taken') one.known = true
  if (report === 'never_there' && one.open && !one.known && !one.disputed) no(model, one)
  if (report === 'undone') model.undone.add(id)
  if ((report === 'no' || report === 'undone') && one.open) no(model, one) // undone: charged and wholly refunded
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
  if (model.cancelRequested) model.status = 'cancelled'
  else if (!one.gaveUp) model.status = 'failed'
}

const waitSeconds = [0, 5, 15, 30, 60] // before the first submission, the second, ...: there is no sixth

// The customer can submit only what the provider asks for, and only from the page that asks for it now: each request for
// input is answered once. A try has five submissions, with growing waits.
export function mayType(model: Model, id: string, typed: number, atMs: number): boolean {
  const one = model.tries.get(id)
  if (!one?.open || !one.asks || one.disputed || one.gaveUp || one.typed !== typed) return false
  const wait = waitSeconds[typed]
  if (wait === undefined || atMs - one.typedMs < wait * 1000) return false
  return !model.cancelRequested && model.status === 'awaiting_payment'
}

export function type(model: Model, id: string, atMs: number) {
  const one = model.tries.get(id)
  if (!one) return
  one.asks = false
  one.typed++
  one.typedMs = atMs
}

// The customer may try again once the provider has ended this try.
export function giveUp(model: Model, id: string) {
  const one = model.tries.get(id)
  if (!one?.open || one.disputed || model.cancelRequested || model.status !== 'awaiting_payment') return
  one.gaveUp = true
}

export function cancel(model: Model) {
  if (isOpen(model)) model.cancelRequested ||= model.status === 'awaiting_payment'
  else if (model.status === 'awaiting_payment' || model.status === 'failed') model.status = 'cancelled'
}

// Records refunds and disputes of a charge, each once. If the try is not paid, only refunds and lost disputes count.
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

// The merchant repeats its request after the payment has ended. It reopens only if no money can have moved.
export function reopen(model: Model) {
  if (model.status === 'paid' || isOpen(model)) return
  if (model.mismatches.size > 0 || model.undone.size > 0 || model.tries.size >= mostTries) return
  model.status = 'awaiting_payment'
  model.cancelRequested = false
}

// The time to pay has ended.
export function expire(model: Model) {
  if (model.status === 'awaiting_payment' && !isOpen(model)) model.status = 'failed'
}
