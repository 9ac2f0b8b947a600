import type {
  OutboundMessage,
  Messenger,
  MessengerSettings,
  MessengerTools,
  Sent,
} from '../core/message/messenger.ts'
import { warnOnChange } from './common/warnOnChange.ts'
import { openSmtpConnections, type SmtpTimes } from './smtp/connections.ts'
import { isAddress, mailOf, messageIdOf } from './smtp/mail.ts'
import { readSmtpSettings } from './smtp/settings.ts'
import { smtpVerdict } from './smtp/verdict.ts'

export { readSmtpSettings as readSettings }

const usualTimes: SmtpTimes = {
  connectionMs: 10_000,
  greetingMs: 10_000,
  silenceMs: 120_000,
  deadlineMs: 150_000,
  waitMs: 20_000,
  closeMs: 5000,
}

// Email by a mail server of the operator's.
export default function smtp(
  settings: MessengerSettings,
  tools: MessengerTools,
  times = usualTimes,
): Messenger | undefined {
  const read = readSmtpSettings(settings, tools)
  if (!read) return undefined
  const { from } = read
  const lines = openSmtpConnections(read, times)
  const operator = warnOnChange(tools, 'Email')

  async function send(letter: OutboundMessage): Promise<Sent> {
    if (!isAddress(letter.to)) return { state: 'never', words: 'This is not an email address.' }
    try {
      await lines.post(mailOf(letter, from))
      operator.well()
      return { state: 'sent', provider_ref: messageIdOf(letter, from) }
    } catch (error) {
      const { sent, fault } = smtpVerdict(error as Error)
      if (fault) operator.trouble(fault)
      return sent
    }
  }

  return { medium: 'email', send, close: lines.close }
}
