import type { Reply } from '../../../src/core/provider/reply.ts'
import type { Attempt } from '../../../src/core/payment/attempt.ts'
import { minutes } from '../../support/payments/rows.ts'

// A node from one start to its end. What it carries is lost with it.
export type Process = { isDead: boolean }

// Something that leaves a process for a provider, and the answer to it.
export type Trip = {
  id: string
  asked: Attempt // as it was then
  at: number // which of all that has happened
  from: Process
  sent: number // ms
  began: number // ms, of the answer's question
}

// What is on its way. Whatever is taken from here and not put back was lost, with the process or the line.
export type Message =
  | ({ kind: 'order' | 'question' } & Trip)
  | ({ kind: 'typed'; code: string } & Trip)
  | ({ kind: 'reply'; reply: Reply; isQuestion: boolean } & Trip)
  | { kind: 'callback'; id: string }
  | { kind: 'news'; id: string } // of a refund or a dispute

// How a message fares, and what its receiver makes of it.
export type Luck = {
  hidden: number // share of the time for which the provider may say that it has no such order
  isClear: boolean
  isOdd: boolean
  asks: boolean // for a code
  leaves: boolean // what is sent then
}
export const goodLuck: Luck = { hidden: 0, isClear: true, isOdd: false, asks: true, leaves: true }

// Whether what should leave does. `refused`: it does not, and we know it.
export type Leaving = 'leaves' | 'refused' | 'dies'

const wireLifeMs = minutes(10) // what was on its way for longer is lost

export const isLost = (message: Message, now: number, orderLifeMs: number): boolean => {
  if (message.kind === 'callback' || message.kind === 'news') return false
  if (message.kind === 'reply' && message.from.isDead) return true
  return now - message.sent > (message.kind === 'reply' ? wireLifeMs : orderLifeMs)
}
