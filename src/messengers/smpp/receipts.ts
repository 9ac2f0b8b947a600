import type { MessengerTools, Receipt } from '../../core/message/messenger.ts'
import { cleanReason } from '../common/warnings.ts'
import type { Pdu } from './connection.ts'

type SmppReceipt = { id: string; state: 'delivered' | 'lost'; reason: string }

const messageTypeMask = 0x3c
const deliveryReceipt = 0x04
const maxId = 64

const states: Readonly<Record<string, SmppReceipt['state']>> = {
  DELIVRD: 'delivered',
  EXPIRED: 'lost',
  DELETED: 'lost',
  UNDELIV: 'lost',
  REJECTD: 'lost',
}
const stateNames: Readonly<Record<number, string>> = {
  2: 'DELIVRD',
  3: 'EXPIRED',
  4: 'DELETED',
  5: 'UNDELIV',
  8: 'REJECTD',
}

// A final delivery receipt; undefined for intermediate ones and for SMS from people. Only PDUs that the network marks as
// receipts count: anyone can send a text that looks like one.
export function readReceipt(pdu: Pdu): SmppReceipt | undefined {
  if (pdu.command !== 'deliver_sm' && pdu.command !== 'data_sm') return undefined
  const isMarked = (Number(pdu.esm_class) & messageTypeMask) === deliveryReceipt
  const tagged = pdu.receipted_message_id
  if (!isMarked && typeof tagged !== 'string') return undefined
  const text = textOf(pdu.short_message) || textOf(pdu.message_payload)
  const id = typeof tagged === 'string' && tagged ? tagged : /\bid:\s*(\S+)/i.exec(text)?.[1]
  const name = stateNames[Number(pdu.message_state)] ?? /\bstat:\s*(\w+)/i.exec(text)?.[1]?.toUpperCase()
  const state = name && states[name]
  if (!id || id.length > maxId || !state) return undefined
  const error = /\berr:\s*(\w+)/i.exec(text)?.[1]
  return { id, state, reason: cleanReason(error && state === 'lost' ? `${name}, error ${error}` : name) }
}

function textOf(value: unknown): string {
  const message = (value as { message?: unknown } | undefined)?.message ?? value
  if (Buffer.isBuffer(message)) return message.toString('latin1')
  return typeof message === 'string' ? message : ''
}

const maxWaiting = 5000
const maxParts = 5000

type PartedMessage = { first: string; missing: Set<string> } // `missing`: parts without a receipt

// A receipt may arrive before the response to its own submit. So it waits for the pending submits, and then for
// `pauseMs`, until their results are saved. A message of several parts is delivered with its last part and lost with any
// of them; its reference is that of the first part.
export function openReceipts(
  { receive, warn }: MessengerTools,
  pauseMs: number,
  allAnswered: () => Promise<unknown>,
) {
  const ids = createIdMatcher()
  const parts = new Map<string, PartedMessage>() // by the id of each part
  const waiting = new Set<() => void>()

  // Called from a timer, where an exception would end the process.
  function report(receipt: Receipt) {
    try {
      receive(receipt)
    } catch (error) {
      warn(`SMPP: a receipt could not be recorded: ${(error as Error).message}`)
    }
  }

  function expect(partIds: readonly string[]) {
    for (const id of partIds) ids.add(id)
    const [first = '', ...others] = partIds
    if (others.length === 0) return
    const message = { first, missing: new Set(partIds) }
    for (const id of partIds) parts.set(id, message)
    for (const id of parts.keys()) {
      if (parts.size <= maxParts) return
      parts.delete(id)
    }
  }

  function handle({ id, state, reason }: SmppReceipt) {
    const provider_ref = ids.find(id)
    const message = parts.get(provider_ref)
    if (!message) return report({ provider_ref, state, reason })
    parts.delete(provider_ref)
    message.missing.delete(provider_ref)
    if (state === 'lost') for (const part of message.missing) parts.delete(part)
    if (state === 'lost' || message.missing.size === 0) report({ provider_ref: message.first, state, reason })
  }

  function add(receipt: SmppReceipt) {
    const handleOnce = () => {
      if (waiting.delete(handleOnce)) handle(receipt)
    }
    waiting.add(handleOnce)
    if (waiting.size > maxWaiting) handleOnce()
    else void allAnswered().then(() => setTimeout(handleOnce, pauseMs).unref())
  }

  return {
    expect,
    add,
    flush() {
      for (const handleOnce of waiting) handleOnce()
    },
  }
}

const maxKeys = 30_000 // three of each id

type IdForm = 'same' | 'hexToDecimal' | 'decimalToHex' // from the receipt's form to that of the submit response

// Some SMS centres write the id in hexadecimal in the submit response and in decimal in the receipt, or the other way
// round, with or without leading zeros. Which form a centre uses is learned from the ids that match in one form only.
export function createIdMatcher() {
  const refs = new Map<string, string>() // by text, and by value in either base
  let learned: IdForm = 'same'

  function add(ref: string) {
    for (const key of [textKey(ref), valueKey('hexToDecimal', 10, ref), valueKey('decimalToHex', 16, ref)])
      if (key) refs.set(key, ref)
    for (const key of refs.keys()) {
      if (refs.size <= maxKeys) return
      refs.delete(key)
    }
  }

  // The id of the submit response if it is known, and that of the receipt otherwise.
  function find(id: string): string {
    const matches = new Map<IdForm, string>()
    for (const [form, key] of [
      ['same', textKey(id)],
      ['hexToDecimal', valueKey('hexToDecimal', 16, id)],
      ['decimalToHex', valueKey('decimalToHex', 10, id)],
    ] as const) {
      const ref = key && refs.get(key)
      if (ref) matches.set(form, ref)
    }
    const [only] = matches.keys()
    if (only && matches.size === 1) learned = only
    return matches.get(learned) ?? matches.values().next().value ?? id
  }

  return { add, find }
}

const textKey = (id: string) => `same ${id.replace(/^0+(?=.)/, '').toLowerCase()}`

function valueKey(form: IdForm, base: 10 | 16, id: string): string | undefined {
  if (!(base === 10 ? /^\d+$/ : /^[\da-f]+$/i).test(id)) return undefined
  return `${form} ${BigInt(base === 10 ? id : `0x${id}`)}`
}
