import { domainToASCII } from 'node:url'
import type { MessengerSettings, MessengerTools } from '../../core/message/messenger.ts'
import { isLoopback, parseServerUrl, readCa, readEach } from '../common/serverSettings.ts'

export type MailSender = { name: string; address: string }

export type SmtpSettings = {
  host: string
  port: number
  auth?: { user: string; pass: string }
  tls: 'implicit' | 'required' | 'off' // from the first byte, by STARTTLS, or not
  ca?: string
  from: MailSender
}

export function readSmtpSettings(
  { SMTP_URL, SMTP_FROM, SMTP_TLS_CA }: MessengerSettings,
  { warn }: MessengerTools,
): SmtpSettings | undefined {
  if (!SMTP_URL) return undefined
  if (!SMTP_FROM) {
    warn('SMTP_URL is set and SMTP_FROM is not: no email is sent.')
    return undefined
  }
  const { server, ca, from } = readEach({
    server: () => readServer(SMTP_URL),
    ca: () => readCa('SMTP_TLS_CA', SMTP_TLS_CA),
    from: () => parseSender(SMTP_FROM),
  })
  if (server.tls === 'off' && server.auth && !isLoopback(server.host))
    warn('SMTP_URL: the password travels without encryption.')
  return { ...server, ca, from }
}

function readServer(url: string): Pick<SmtpSettings, 'host' | 'port' | 'auth' | 'tls'> {
  const { host, port, user, password, protocol, query } = parseServerUrl('SMTP_URL', url, {
    'smtp:': 587,
    'smtps:': 465,
  })
  const tls = protocol === 'smtps:' ? 'implicit' : readTls(query, host)
  return { host, port, auth: user ? { user, pass: password } : undefined, tls }
}

// Local connections cannot be intercepted, and a local mail server seldom has a certificate for "localhost".
function readTls(query: URLSearchParams, host: string) {
  const tls = query.get('tls') ?? (isLoopback(host) ? 'off' : 'required')
  if (tls === 'off' || tls === 'required') return tls
  throw new Error('SMTP_URL: tls must be "required" or "off".')
}

function parseSender(text: string): MailSender {
  const [, name = '', address = text.trim()] = /^\s*(.*?)\s*<([^<>]*)>\s*$/.exec(text) ?? []
  if (!isAddress(address) || /[\p{Cc}<>]/u.test(name))
    throw new Error('SMTP_FROM: must be like "Tollgate <pay@example.com>" or "pay@example.com".')
  return { name: name.replace(/^"(.*)"$/, '$1'), address }
}

const maxAddress = 254

// Exactly one mailbox: no space, comma, bracket, quote or control character that could begin a second recipient or a
// header. The quoted forms of RFC 5321 are refused, too.
const mailbox =
  /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,62})\.)*[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,62})$/u

export const isAddress = (text: string) =>
  text.length <= maxAddress && mailbox.test(text) && domainToASCII(text.slice(text.indexOf('@') + 1)) !== ''
