import { createHash } from 'node:crypto'
import { domainToASCII } from 'node:url'
import type { SendMailOptions } from 'nodemailer'
import type {
  Messenger,
  MessengerModule,
  MessengerTools,
  OutboundMessage,
  SendResult,
} from '../core/message/messenger.ts'
import { cleanReason, warnOnChange } from './common/warnings.ts'
import { checkSmtp, openSmtpConnections, type SmtpTimes } from './smtp/connections.ts'
import { isAddress, type MailSender, readSmtpSettings, type SmtpSettings } from './smtp/settings.ts'

const defaultTimes: SmtpTimes = {
  connectionMs: 10_000,
  greetingMs: 10_000,
  silenceMs: 120_000,
  deadlineMs: 150_000,
  waitMs: 20_000,
  closeMs: 5000,
}

// Email through the operator's mail server.
export default {
  readSettings: readSmtpSettings,
  open: openSmtp,
  check: checkSmtp,
} satisfies MessengerModule<SmtpSettings>

function openSmtp(settings: SmtpSettings, tools: MessengerTools, times = defaultTimes): Messenger {
  const { from } = settings
  const connections = openSmtpConnections(settings, times)
  const warnings = warnOnChange(tools, 'Email')

  async function send(message: OutboundMessage): Promise<SendResult> {
    if (!isAddress(message.to)) return { state: 'rejected', reason: 'This is not an email address.' }
    try {
      await connections.send(mailOf(message, from))
      warnings.succeeded()
      return { state: 'sent', provider_ref: messageIdOf(message, from) }
    } catch (error) {
      const { result, fault } = readError(error as Error)
      if (fault) warnings.failed(fault)
      return result
    }
  }

  return { medium: 'email', send, close: connections.close }
}

const maxSubject = 200

// The recipient is passed as data to the envelope and the header, and never parsed from text again.
function mailOf(message: OutboundMessage, from: MailSender): SendMailOptions {
  return {
    envelope: { from: from.address, to: [message.to] },
    from,
    to: { name: '', address: message.to },
    subject: oneLine(message.subject),
    text: message.text.toWellFormed(),
    html: message.html.toWellFormed() || undefined,
    messageId: messageIdOf(message, from),
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

// A retry has the same Message-ID, so that mail servers can recognise it.
function messageIdOf({ id }: OutboundMessage, { address }: MailSender) {
  const local = /^[\w-]{1,64}$/.test(id) ? id : createHash('sha256').update(id).digest('hex')
  return `<${local}@${domainToASCII(address.slice(address.lastIndexOf('@') + 1))}>`
}

const oneLine = (text: string) =>
  Array.from(text.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '))
    .slice(0, maxSubject)
    .join('')
    .trim()

// What nodemailer adds to an error.
type SmtpError = Error & { code?: string; response?: string; responseCode?: number; command?: string }

// The server requires a login, encryption or another order of commands; the message itself is not refused.
const notAboutMessage = new Set([503, 530, 534, 535, 538])

// Only a permanent refusal of the message itself rejects it. A failure of the connection can happen to any message.
function readError(error: SmtpError): { result: SendResult; fault?: string } {
  const { code, response, responseCode = 0, command } = error
  const reason = cleanReason(error.message)
  const isAboutMessage = (code === 'EENVELOPE' || code === 'EMESSAGE') && !notAboutMessage.has(responseCode)
  if (!isAboutMessage) return { result: { state: 'retry', reason }, fault: reason }
  const isPermanent = response === undefined || (responseCode >= 500 && responseCode <= 599) // nodemailer's or the server's
  if (!isPermanent) return { result: { state: 'retry', reason } }
  const fault = command === 'MAIL FROM' ? reason : undefined // the sender is a setting
  return { result: { state: 'rejected', reason }, fault }
}
