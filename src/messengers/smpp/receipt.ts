import { tidy } from '../common/warnOnChange.ts'
import type { Pdu } from './library.ts'

export type RawReceipt = { id: string; state: 'delivered' | 'lost'; words: string }

const kindOfMessage = 0x3c
const deliveryReceipt = 0x04
const maxId = 64

const states: Readonly<Record<string, RawReceipt['state']>> = {
  DELIVRD: 'delivered',
  EXPIRED: 'lost',
  DELETED: 'lost',
  UNDELIV: 'lost',
  REJECTD: 'lost',
}
const numbered: Readonly<Record<number, string>> = {
  2: 'DELIVRD',
  3: 'EXPIRED',
  4: 'DELETED',
  5: 'UNDELIV',
  8: 'REJECTD',
}

// The end of a message, or nothing: what is still on its way will be told again, and what a person wrote is not ours.
// The network marks its receipts; a text that merely looks like one may come from anybody.
export function readReceipt(pdu: Pdu): RawReceipt | undefined {
  if (pdu.command !== 'deliver_sm' && pdu.command !== 'data_sm') return undefined
  const marked = (Number(pdu.esm_class) & kindOfMessage) === deliveryReceipt
  const tagged = pdu.receipted_message_id
  if (!marked && typeof tagged !== 'string') return undefined
  const text = textOf(pdu.short_message) || textOf(pdu.message_payload)
  const id = typeof tagged === 'string' && tagged ? tagged : /\bid:\s*(\S+)/i.exec(text)?.[1]
  const word = numbered[Number(pdu.message_state)] ?? /\bstat:\s*(\w+)/i.exec(text)?.[1]?.toUpperCase()
  const state = word && states[word]
  if (!id || id.length > maxId || !state) return undefined
  const error = /\berr:\s*(\w+)/i.exec(text)?.[1]
  return { id, state, words: tidy(error && state === 'lost' ? `${word}, error ${error}` : word) }
}

function textOf(value: unknown): string {
  const message = (value as { message?: unknown } | undefined)?.message ?? value
  if (Buffer.isBuffer(message)) return message.toString('latin1')
  return typeof message === 'string' ? message : ''
}
