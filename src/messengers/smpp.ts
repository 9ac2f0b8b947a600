import type {
  OutboundMessage,
  Messenger,
  MessengerSettings,
  MessengerTools,
  Sent,
} from '../core/message/messenger.ts'
import { openSlots } from './common/slots.ts'
import { warnOnChange } from './common/warnOnChange.ts'
import { within } from './common/within.ts'
import { errors, type Fields, type Pdu } from './smpp/library.ts'
import { type SmppSessionTimes, openSmppSession } from './smpp/session.ts'
import { openMemory } from './smpp/memory.ts'
import { openSmppRateLimit } from './smpp/rateLimit.ts'
import { partsOf } from './smpp/parts.ts'
import { readReceipt } from './smpp/receipt.ts'
import { openReceipts } from './smpp/receipts.ts'
import { readSmppSettings } from './smpp/settings.ts'
import { smppVerdict } from './smpp/verdict.ts'
import type { Wire } from './smpp/wire.ts'

export { readSmppSettings as readSettings }

export type SmppTimes = SmppSessionTimes & {
  waitMs: number // for a place in the window, and again for its turn
  answerMs: number // to a submit
  slowMs: number // that we go slower after a "too fast"
  receiptMs: number // that a receipt waits
}

const usualTimes: SmppTimes = {
  connectMs: 10_000,
  idleMs: 30_000,
  enquireMs: 10_000,
  firstPauseMs: 1000,
  maxPauseMs: 60_000,
  stableMs: 5000,
  readyMs: 10_000,
  closeMs: 1000, // for the open submits, and again for the unbind
  waitMs: 20_000,
  answerMs: 30_000,
  slowMs: 30_000,
  receiptMs: 1000,
}

const destination = { dest_addr_ton: 1, dest_addr_npi: 1, registered_delivery: 1 } // international, with a receipt

// SMS by a line to the SMS centre of a network.
export default function smpp(
  settings: MessengerSettings,
  tools: MessengerTools,
  times = usualTimes,
): Messenger | undefined {
  const read = readSmppSettings(settings, tools)
  if (!read) return undefined
  const { source, rate, window } = read
  const operator = warnOnChange(tools, 'SMPP')
  const slots = openSlots(window)
  const pace = openSmppRateLimit(rate, times.slowMs)
  const memory = openMemory()
  const open = new Set<Promise<unknown>>()
  const receipts = openReceipts(tools, times.receiptMs, () => Promise.allSettled(open))
  const line = openSmppSession(read, tools, times, pdu => {
    const receipt = readReceipt(pdu)
    if (receipt) receipts.take(receipt)
  })

  async function send(letter: OutboundMessage): Promise<Sent> {
    if (!/^\+\d{7,15}$/.test(letter.to)) return { state: 'never', words: 'This is not a phone number.' }
    const parts = partsOf(letter.text.toWellFormed(), letter.id)
    if (!parts) return { state: 'never', words: 'This is too long for an SMS.' }
    const accepted = memory.recall(letter)
    const submits = parts.map(async (part, index): Promise<Sent> => {
      if (accepted[index] !== undefined) return { state: 'sent' }
      return submit({ ...source, ...destination, ...part, destination_addr: letter.to.slice(1) }, id => {
        accepted[index] = id
      })
    })
    const worst = worstOf(await Promise.all(submits))
    if (worst.state !== 'later') memory.forget(letter)
    if (worst.state !== 'sent') return worst
    receipts.add(accepted.filter(id => id !== undefined && id !== '') as string[])
    return { state: 'sent', provider_ref: accepted[0] || undefined }
  }

  async function submit(fields: Fields, note: (id: string) => void): Promise<Sent> {
    try {
      await line.bound() // first, so that nobody queues before a line that is down
      if (!(await slots.take(times.waitMs))) return later('Too many messages wait for the SMS centre.')
    } catch (error) {
      return later((error as Error).message)
    }
    try {
      const wire = await line.bound()
      if (!(await pace.turn(times.waitMs))) return later('The SMS centre wants us to go slower.')
      return judge(await ask(wire, fields, note))
    } catch (error) {
      return later((error as Error).message)
    } finally {
      slots.give()
    }
  }

  // Whether a submit without an answer was taken, nobody knows; an answer that comes too late is noted all the same.
  async function ask(wire: Wire, fields: Fields, note: (id: string) => void): Promise<Pdu> {
    const answer = wire.ask('submit_sm', fields).then(pdu => {
      if (isAccepted(pdu)) note(String(pdu.message_id ?? ''))
      if (pdu.command_status === errors.ESME_RINVBNDSTS) wire.end('The SMS centre has forgotten the bind.')
      return pdu
    })
    const asked = within(answer, times.answerMs, 'No answer from the SMS centre.')
    open.add(asked)
    return asked.finally(() => open.delete(asked))
  }

  function judge(pdu: Pdu): Sent {
    if (isAccepted(pdu)) {
      operator.well()
      return { state: 'sent' }
    }
    const { sent, fault, tooFast } = smppVerdict(pdu.command_status)
    if (tooFast) pace.slow()
    if (fault && sent.state !== 'sent') operator.trouble(sent.words)
    return sent
  }

  async function close() {
    slots.close()
    await within(Promise.allSettled(open), times.closeMs, '').catch(() => {})
    await line.close()
    receipts.flush()
  }

  return { medium: 'sms', send, close }
}

const isAccepted = (pdu: Pdu) => pdu.command === 'submit_sm_resp' && pdu.command_status === 0

const later = (words: string): Sent => ({ state: 'later', words })

// Of a letter in parts: a no to one of them ends it, and the longest wait is the letter's.
function worstOf(all: readonly Sent[]): Sent {
  const waits = all.filter(sent => sent.state === 'later').sort((a, b) => (b.afterMs ?? 0) - (a.afterMs ?? 0))
  return all.find(({ state }) => state === 'never') ?? waits[0] ?? { state: 'sent' }
}
