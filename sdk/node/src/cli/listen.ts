import { createTollgate, type Tollgate } from '../client.ts'
import { RefusedError } from '../errors.ts'
import type { FeedEvent } from '../events.ts'
import { sleep } from '../transport.ts'
import { type Command, CommandError, type Io, textOption, urlArgument, usageError } from './command.ts'
import { type Credentials, loadCredentials } from './credentials.ts'
import { cursorFile } from './cursorFile.ts'
import { deliver, type HandlerAnswer } from './delivery.ts'
import { cell, clockTime, paint, printable } from './output.ts'

const pollMs = 1000
const retryDelaysMs = [1000, 5000] // after an answer other than 200
const maxWaitMs = 10_000 // between two tries while nothing listens at the address

export const listen: Command = {
  usage: 'listen [--forward-to URL] [--refunds] [--since CURSOR|TIME] [--once]',
  summary: 'Show the events of your payments as they happen, and forward them to your notification endpoint.',
  details:
    'Each event is sent as the gateway sends it: the same body, signed with your signing secret. So an endpoint on your\n' +
    'own machine gets notifications without being reachable from the internet. The place in the feed is stored: after a\n' +
    'restart nothing is skipped. An event that was being sent when the command ended is sent again.\n' +
    'The first time it begins with the next event. Refunds are sent only with --refunds, as the gateway sends them only if\n' +
    'your setting ipn_refunds is on. Reversals and disputes are in the feed only.',
  options: {
    'forward-to': { type: 'string', short: 'f', value: 'URL', help: 'your notification endpoint' },
    refunds: { type: 'boolean', help: 'forward events of refunds too' },
    since: {
      type: 'string',
      value: 'CURSOR|TIME',
      help: 'begin behind this cursor, at a time (2026-11-18T09:00Z), some time ago (2h, 3d), or at the oldest event (all)',
    },
    once: {
      type: 'boolean',
      help: 'end at the newest event; the exit code is 1 if one was not acknowledged',
    },
  },
  examples: [
    'listen --forward-to http://127.0.0.1:3000/ipn',
    'listen --forward-to http://127.0.0.1:3000/ipn --since 2h',
    'listen --since all --once',
  ],
  async run(input) {
    const { io, values } = input
    const target = textOption(input, 'forward-to')
    const forwardTo = target === undefined ? undefined : urlArgument(target, '--forward-to')
    const credentials = await loadCredentials(io.env, forwardTo !== undefined)
    const cursors = cursorFile(io.env, credentials, forwardTo)
    const tollgate = clientOf(credentials, io)
    const start = await startOf(tollgate, textOption(input, 'since'), await cursors.load(), io)
    io.error(headline(credentials, forwardTo, start))
    const isOnce = values.once === true
    const passing = { credentials, forwardTo, isOnce, hasRefunds: values.refunds === true }
    let lost = 0
    try {
      const { signal } = io
      for await (const event of tollgate.events({
        after: start.after,
        follow: !isOnce,
        pollMs,
        limit: 500,
        signal,
      })) {
        if (start.from && event.createdAt < start.from) continue
        const isAcknowledged = await pass(io, event, passing)
        if (signal.aborted && !isAcknowledged) break // it is sent again after a restart
        if (!isAcknowledged) lost++
        await cursors.save(event.cursor)
        if (signal.aborted) break
      }
    } catch (error) {
      throw explained(error)
    }
    return isOnce && lost > 0 ? 1 : 0
  },
}

// Says once that the gateway does not answer, not at every try.
function clientOf(credentials: Credentials, io: Io): Tollgate {
  let isDown = false
  const send: typeof fetch = async (...request) => {
    const response = await fetch(...request)
    if (isDown && response.ok) {
      isDown = false
      io.error('The gateway answers again.')
    }
    return response
  }
  return createTollgate({
    ...credentials,
    fetch: send,
    onRetry({ error }) {
      if (!isDown) io.error(`${error.message} Trying again until it answers; nothing is lost.`)
      isDown = true
    },
  })
}

type Start = { after: string; from?: Date; isStored?: boolean }

async function startOf(
  tollgate: Tollgate,
  since: string | undefined,
  stored: string | undefined,
  io: Io,
): Promise<Start> {
  if (since !== undefined) return readSince(since, new Date())
  if (stored !== undefined) return { after: stored, isStored: true }
  let after = ''
  try {
    for await (const { cursor } of tollgate.events({ limit: 500, signal: io.signal })) after = cursor
  } catch (error) {
    throw explained(error)
  }
  return { after }
}

const unitMs: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export function readSince(text: string, now: Date): Start {
  if (text === 'all') return { after: '' }
  if (/^\d{1,18}$/.test(text)) return { after: text === '0' ? '' : text }
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const from = count ? new Date(now.getTime() - Number(count) * (unitMs[unit] ?? 0)) : new Date(text)
  if (!Number.isNaN(from.getTime())) return { after: '', from }
  throw usageError(
    `--since ${text}: use a cursor such as 1042, a time such as 2026-11-18T09:00Z or 2h, or all.`,
  )
}

function headline(
  { baseUrl, merchantKey }: Credentials,
  forwardTo: string | undefined,
  { isStored, after }: Start,
) {
  const what = forwardTo
    ? `forwarding to ${forwardTo}`
    : 'showing events; --forward-to URL sends them to your endpoint'
  const where = isStored ? `Continuing behind event ${after || '0'}. ` : ''
  const live = merchantKey.startsWith('lk_') ? ' These are live payments.' : ''
  return `${where}Listening to ${baseUrl}, ${what}.${live} Ctrl+C ends it.`
}

type Passing = {
  credentials: Credentials
  forwardTo: string | undefined
  isOnce: boolean
  hasRefunds: boolean
}

// Shows an event and sends it until it is acknowledged, or has been refused three times. While nothing listens at the
// address, it waits: the developer restarts the program.
async function pass(io: Io, event: FeedEvent, passing: Passing): Promise<boolean> {
  const { credentials, forwardTo, isOnce, hasRefunds } = passing
  const { ipnSecret } = credentials
  const isSent = event.type === 'status' || (hasRefunds && event.refund !== null)
  if (!forwardTo || !ipnSecret || !isSent) {
    io.out(line(io, event, forwardTo ? notSent(event) : ''))
    return true
  }
  let waits = 0
  for (let attempt = 1; ; ) {
    const { id, sequence, rawBody: body } = event
    const answer = await deliver(forwardTo, { id, sequence, attempt, body }, ipnSecret)
    const isWaiting = answer.isUnreachable === true && !isOnce
    if (!isWaiting || waits === 0) io.out(line(io, event, answerText(io, answer)))
    if (answer.http === 200) return true
    if (isWaiting && waits === 0) io.error(`Waiting until something listens at ${forwardTo}.`)
    const delayMs = isWaiting ? Math.min(500 * 2 ** waits++, maxWaitMs) : retryDelaysMs[attempt++ - 1]
    if (delayMs === undefined) break
    await sleep(delayMs, io.signal).catch(() => {})
    if (io.signal.aborted) return false
  }
  const again = String(BigInt(event.cursor) - 1n)
  io.error(
    paint(io, 'yellow', `Not acknowledged: only HTTP 200 is. To send it again: listen --since ${again}`),
  )
  return false
}

const notSent = ({ refund }: FeedEvent) =>
  refund ? 'not sent; --refunds sends it' : 'in the feed only, not sent'

const answerText = (io: Io, { http, problem, ms }: HandlerAnswer) => {
  const text = http === undefined ? (problem ?? '') : String(http)
  return `${paint(io, http === 200 ? 'green' : 'red', text.padEnd(3))}  ${ms} ms`
}

const colours = { paid: 'green', failed: 'red', cancelled: 'yellow', awaiting_payment: 'dim' } as const

function line(io: Io, event: FeedEvent, answer: string): string {
  const { createdAt, type, status, invoiceId, currency, amount } = event
  return [
    paint(io, 'dim', clockTime(createdAt)),
    cell(
      io,
      type === 'status' ? status : printable(type),
      19,
      type === 'status' ? colours[status] : 'yellow',
    ),
    printable(invoiceId).padEnd(25),
    `${currency} ${amount}`.padStart(14),
    answer,
  ]
    .join('  ')
    .trimEnd()
}

// A cursor of another database is refused as one beyond the end.
function explained(error: unknown): unknown {
  if (error instanceof RefusedError && error.field === 'after')
    return new CommandError(
      `${error.message} The stored place is not in this feed; was the gateway's database replaced? Begin with --since all, or --since 1h.`,
    )
  return error
}
