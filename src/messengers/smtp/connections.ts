import { isIP } from 'node:net'
import { createTransport, type SendMailOptions } from 'nodemailer'
import type { MessengerCheck } from '../../core/message/messenger.ts'
import { reach } from '../../net/reach.ts'
import { openSlots, withTimeout } from '../common/waiting.ts'
import { cleanReason } from '../common/warnings.ts'
import type { SmtpSettings } from './settings.ts'

export type SmtpTimes = {
  connectionMs: number
  greetingMs: number
  silenceMs: number // long: a client that hangs up while the server processes the last dot sends the mail twice
  deadlineMs: number // of one mail on a connection
  waitMs: number // for a free connection
  closeMs: number
}
type SmtpConnections = { send(mail: SendMailOptions): Promise<void>; close(): Promise<void> }

const maxConnections = 5
const maxMailsPerConnection = 100
const idleMs = 30_000

// Each transport is a pool of one connection that stays open between mails. A mail is stopped at its deadline by closing
// its connection, so no other mail may use it at the same time. No mail waits inside a pool, because it would be sent
// after its deadline.
export function openSmtpConnections(settings: SmtpSettings, times: SmtpTimes): SmtpConnections {
  const slots = openSlots(maxConnections)
  const free: Transport[] = []
  const sending = new Map<Transport, Promise<unknown>>()

  async function send(mail: SendMailOptions) {
    if (!(await slots.take(times.waitMs))) throw new Error('No connection to the mail server is free.')
    const transport = free.pop() ?? openTransport(settings, times)
    const { deadlineMs } = times
    const sent = withTimeout(
      transport.send(mail),
      deadlineMs,
      'The mail server did not finish in time.',
      transport.stop,
    )
    sending.set(transport, sent)
    try {
      await sent
    } finally {
      sending.delete(transport)
      if (!transport.isStopped) free.push(transport)
      slots.release()
    }
  }

  async function close() {
    slots.close()
    await withTimeout(Promise.allSettled(sending.values()), times.closeMs, '').catch(() => {})
    for (const transport of [...sending.keys(), ...free]) transport.stop()
  }

  return { send, close }
}

type Transport = ReturnType<typeof openTransport>

const optionsOf = (
  { host, port, auth, tls, ca }: SmtpSettings,
  times: Pick<SmtpTimes, 'connectionMs' | 'greetingMs' | 'silenceMs'>,
) => ({
  host,
  port,
  auth,
  secure: tls === 'implicit',
  requireTLS: tls === 'required',
  ignoreTLS: tls === 'off',
  tls: { ca, minVersion: 'TLSv1.2' as const, servername: isIP(host) ? undefined : host },
  connectionTimeout: times.connectionMs,
  dnsTimeout: times.connectionMs,
  greetingTimeout: times.greetingMs,
  socketTimeout: times.silenceMs,
})

function openTransport(settings: SmtpSettings, times: SmtpTimes) {
  const pool = createTransport({
    pool: true,
    maxConnections: 1,
    maxMessages: maxMailsPerConnection,
    maxRequeues: 1, // again if the server closed the connection before any of the mail was sent
    idleTimeout: idleMs,
    ...optionsOf(settings, times),
  })
  const transport = {
    isStopped: false,
    send: (mail: SendMailOptions) => pool.sendMail(mail),
    stop() {
      transport.isStopped = true
      pool.close({ force: true })
    },
  }
  pool.on('error', () => {}) // every mail gets its own error
  return transport
}

// Greeting, STARTTLS and login, and no mail.
export async function checkSmtp(settings: SmtpSettings, deadlineMs: number): Promise<MessengerCheck> {
  const { host, port, tls, ca, auth } = settings
  const server = `${host}:${port}`
  const reached = auth ? 'answers and accepts the login' : 'answers; there is no login'
  const { failed } = await reach({ host, port, tls: tls === 'implicit', ca }, deadlineMs)
  if (failed) return { server, reached, failed }
  const times = { connectionMs: deadlineMs, greetingMs: deadlineMs, silenceMs: deadlineMs }
  const transport = createTransport(optionsOf(settings, times))
  try {
    await withTimeout(transport.verify(), deadlineMs, 'no answer in time')
    return { server, reached }
  } catch (error) {
    return {
      server,
      reached,
      failed: { step: failedStep(error as SmtpFault), why: cleanReason((error as Error).message) },
    }
  } finally {
    transport.close()
  }
}

type SmtpFault = Error & { code?: string; command?: string }

function failedStep({ code = '', message }: SmtpFault) {
  if (code === 'EAUTH') return 'login'
  if (code === 'ETLS' || /certificate|self-signed|TLS|SSL/i.test(`${code} ${message}`)) return 'TLS'
  return 'greeting'
}
