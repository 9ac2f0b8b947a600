import type { MessengerTools } from '../../core/message/messenger.ts'
import { tidy, warnOnChange } from '../common/warnOnChange.ts'
import { within } from '../common/within.ts'
import { type DialTimes, dial } from './dial.ts'
import type { Pdu } from './library.ts'
import type { SmppSettings } from './settings.ts'
import type { Wire } from './wire.ts'

export type SmppSessionTimes = DialTimes & {
  firstPauseMs: number // before the next connection, and twice as long each time
  maxPauseMs: number
  stableMs: number // a connection that lived so long was a good one
  readyMs: number // that a letter waits for a connection
  closeMs: number
}
export type SmppSession = { bound(): Promise<Wire>; close(): Promise<void> }

const quickPauseMs = 50

// One connection, held open from the start, since receipts arrive on it for what was sent before, too. When it is lost
// there is a pause, which grows while connecting fails; after a good one, a letter that waits cuts it short.
export function openSmppSession(
  settings: SmppSettings,
  tools: MessengerTools,
  times: SmppSessionTimes,
  hear: (pdu: Pdu) => void,
): SmppSession {
  const operator = warnOnChange(tools, 'SMPP')
  const waiting = new Set<(wire?: Wire) => void>()
  let wire: Wire | undefined
  let failures = 0
  let closed = false
  let hurry: (() => void) | undefined // cuts the pause short

  async function run() {
    for (;;) {
      const startedAt = performance.now()
      const words = await live().catch((error: Error) => error.message)
      if (closed) return
      const good = wire !== undefined && performance.now() - startedAt >= times.stableMs
      wire = undefined
      if (good) operator.well()
      operator.trouble(tidy(words))
      failures = good ? 0 : failures + 1
      await pause()
    }
  }

  // From the connection to its end; gives back why it ended.
  async function live(): Promise<string> {
    const dialled = await dial(settings, times, hear)
    if (closed) dialled.end('Closed by us.')
    wire = dialled
    for (const resolve of waiting) resolve(dialled)
    return dialled.ended
  }

  function pause() {
    const ms = Math.min(times.firstPauseMs * 2 ** Math.max(failures - 1, 0), times.maxPauseMs)
    return new Promise<void>(resolve => {
      const timer = setTimeout(resolve, ms)
      hurry = () => {
        if (!closed && failures > 0) return
        clearTimeout(timer)
        setTimeout(resolve, quickPauseMs)
      }
      if (waiting.size > 0) hurry()
    })
  }

  async function bound(): Promise<Wire> {
    if (wire?.live && !closed) return wire
    let settle!: (wire?: Wire) => void
    const soon = new Promise<Wire | undefined>(resolve => {
      settle = resolve
    })
    waiting.add(settle)
    if (closed) settle()
    hurry?.()
    try {
      const got = await within(soon, times.readyMs, 'There is no connection to the SMS centre.')
      if (!got) throw new Error('The line is closed.')
      return got
    } finally {
      waiting.delete(settle)
    }
  }

  async function close() {
    closed = true
    for (const settle of waiting) settle()
    hurry?.()
    if (wire?.live) await within(wire.ask('unbind'), times.closeMs, '').catch(() => {})
    wire?.end('Closed by us.')
  }

  void run()
  return { bound, close }
}
