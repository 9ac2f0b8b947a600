import { isIP } from 'node:net'
import { createTransport, type SendMailOptions } from 'nodemailer'
import { openSlots } from '../common/slots.ts'
import { within } from '../common/within.ts'
import type { SmtpSettings } from './settings.ts'

export type SmtpTimes = {
  connectionMs: number
  greetingMs: number
  silenceMs: number // a server may think long after the last dot; who hangs up then sends twice
  deadlineMs: number // of one letter on a line, whatever happens
  waitMs: number // for a free line
  closeMs: number
}
export type SmtpConnections = { post(mail: SendMailOptions): Promise<void>; close(): Promise<void> }

const maxLines = 5
const maxLettersPerLine = 100
const idleMs = 30_000

// Each line is a pool of one connection that stays open between letters. One each, since the only way to stop a letter
// at its deadline is to cut its connection, and that must be nobody else's. No letter waits inside of a pool: it would
// be sent after we had given it up.
export function openSmtpConnections(settings: SmtpSettings, times: SmtpTimes): SmtpConnections {
  const slots = openSlots(maxLines)
  const free: Line[] = []
  const underWay = new Map<Line, Promise<unknown>>()

  async function post(mail: SendMailOptions) {
    if (!(await slots.take(times.waitMs))) throw new Error('No line to the mail server is free.')
    const line = free.pop() ?? openLine(settings, times)
    try {
      await sendOn(line, mail)
    } finally {
      underWay.delete(line)
      if (!line.cut) free.push(line)
      slots.give()
    }
  }

  function sendOn(line: Line, mail: SendMailOptions) {
    const sending = within(
      line.send(mail),
      times.deadlineMs,
      'The mail server did not finish in time.',
      line.stop,
    )
    underWay.set(line, sending)
    return sending
  }

  async function close() {
    slots.close()
    const rest = Promise.allSettled(underWay.values())
    await within(rest, times.closeMs, '').catch(() => {})
    for (const line of [...underWay.keys(), ...free]) line.stop()
  }

  return { post, close }
}

type Line = ReturnType<typeof openLine>

function openLine({ host, port, auth, tls, ca }: SmtpSettings, times: SmtpTimes) {
  const transport = createTransport({
    pool: true,
    maxConnections: 1,
    maxMessages: maxLettersPerLine,
    maxRequeues: 1, // once more when the server hung up before anything of the letter was sent
    idleTimeout: idleMs,
    host,
    port,
    auth,
    secure: tls === 'whole',
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'off',
    tls: { ca, minVersion: 'TLSv1.2', servername: isIP(host) ? undefined : host },
    connectionTimeout: times.connectionMs,
    dnsTimeout: times.connectionMs,
    greetingTimeout: times.greetingMs,
    socketTimeout: times.silenceMs,
  })
  const line = {
    cut: false,
    send: (mail: SendMailOptions) => transport.sendMail(mail),
    stop() {
      line.cut = true
      transport.close({ force: true })
    },
  }
  transport.on('error', () => {}) // each letter hears of its own
  return line
}
