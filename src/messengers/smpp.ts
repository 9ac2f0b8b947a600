import type {
  Messenger,
  MessengerModule,
  MessengerTools,
  OutboundMessage,
  SendResult,
} from '../core/message/messenger.ts'
import { withTimeout } from './common/waiting.ts'
import { warnOnChange } from './common/warnings.ts'
import { splitMessage } from './smpp/parts.ts'
import { openReceipts, readReceipt } from './smpp/receipts.ts'
import { checkBind, SmppSession, type SmppSessionTimes } from './smpp/session.ts'
import { readSmppSettings, type SmppSettings } from './smpp/settings.ts'
import { createSubmitter, type SubmitTimes } from './smpp/submit.ts'

export type SmppTimes = SmppSessionTimes & SubmitTimes & { receiptMs: number } // before a receipt is passed on

const defaultTimes: SmppTimes = {
  connectMs: 10_000,
  idleMs: 30_000,
  enquireMs: 10_000,
  firstPauseMs: 1000,
  maxPauseMs: 60_000,
  stableMs: 5000,
  readyMs: 10_000,
  closeMs: 1000, // for the pending submits, and again for the unbind
  waitMs: 20_000,
  answerMs: 30_000,
  slowMs: 30_000,
  receiptMs: 1000,
}

const destination = { dest_addr_ton: 1, dest_addr_npi: 1, registered_delivery: 1 } // international, with a receipt

// SMS through the SMS centre of a network.
export default {
  readSettings: readSmppSettings,
  open: openSmpp,
  check: checkBind,
} satisfies MessengerModule<SmppSettings>

function openSmpp(settings: SmppSettings, tools: MessengerTools, times = defaultTimes): Messenger {
  const session = new SmppSession(settings, tools, times, pdu => {
    const receipt = readReceipt(pdu)
    if (receipt) receipts.add(receipt)
  })
  const submitter = createSubmitter(session, settings, times, warnOnChange(tools, 'SMPP'))
  const receipts = openReceipts(tools, times.receiptMs, submitter.allAnswered)
  const acceptedParts = createAcceptedParts()

  async function send(message: OutboundMessage): Promise<SendResult> {
    if (!/^\+\d{7,15}$/.test(message.to)) return { state: 'rejected', reason: 'This is not a phone number.' }
    const parts = splitMessage(message.text.toWellFormed(), message.id)
    if (!parts) return { state: 'rejected', reason: 'This is too long for an SMS.' }
    const accepted = acceptedParts.of(message)
    const submits = parts.map(async (part, index): Promise<SendResult> => {
      if (accepted[index] !== undefined) return { state: 'sent' }
      const fields = { ...settings.source, ...destination, ...part, destination_addr: message.to.slice(1) }
      return submitter.submit(fields, id => {
        accepted[index] = id
      })
    })
    const result = combine(await Promise.all(submits))
    if (result.state !== 'retry') acceptedParts.forget(message)
    if (result.state !== 'sent') return result
    receipts.expect(accepted.filter(id => id !== undefined && id !== '') as string[])
    return { state: 'sent', provider_ref: accepted[0] || undefined }
  }

  async function close() {
    submitter.close()
    await withTimeout(submitter.allAnswered(), times.closeMs, '').catch(() => {})
    await session.close()
    receipts.flush()
  }

  return { medium: 'sms', send, close }
}

// The result of a message in several parts: one rejected part rejects it, and the longest wait applies.
function combine(results: readonly SendResult[]): SendResult {
  const retries = results
    .filter(result => result.state === 'retry')
    .sort((a, b) => (b.afterMs ?? 0) - (a.afterMs ?? 0))
  return results.find(({ state }) => state === 'rejected') ?? retries[0] ?? { state: 'sent' }
}

const maxMessages = 1000

type AcceptedIds = (string | undefined)[] // by part: the id that the SMS centre assigned

// The accepted parts of messages that are not completely accepted, in memory: the next try sends only the other parts.
// A reply that arrives after its deadline is recorded here, too.
function createAcceptedParts() {
  const messages = new Map<string, { content: string; accepted: AcceptedIds }>()
  return {
    of({ id, to, text }: OutboundMessage): AcceptedIds {
      const content = `${to} ${text}`
      const known = messages.get(id)
      if (known?.content === content) return known.accepted
      const accepted: AcceptedIds = []
      messages.set(id, { content, accepted })
      const [oldest] = messages.keys()
      if (oldest !== undefined && messages.size > maxMessages) messages.delete(oldest)
      return accepted
    },
    forget({ id }: OutboundMessage) {
      messages.delete(id)
    },
  }
}
