import { setTimeout as sleep } from 'node:timers/promises'
import type { SendResult } from '../../core/message/messenger.ts'
import { openSlots, withTimeout } from '../common/waiting.ts'
import type { Warnings } from '../common/warnings.ts'
import { errors, type Pdu, type PduFields, type SmppConnection, statusName } from './connection.ts'
import type { SmppSession } from './session.ts'
import type { SmppSettings } from './settings.ts'

export type SubmitTimes = {
  waitMs: number // for a place in the window, and again for the rate limit
  answerMs: number // for the reply to a submit
  slowMs: number // at a lower rate after a throttling reply
}

// Submits single SMS parts within the window and the rate that the contract with the network allows.
export function createSubmitter(
  session: SmppSession,
  { window, rate }: Pick<SmppSettings, 'window' | 'rate'>,
  times: SubmitTimes,
  warnings: Warnings,
) {
  const slots = openSlots(window)
  const rateLimit = createSmppRateLimit(rate, times.slowMs)
  const pending = new Set<Promise<unknown>>()

  async function submit(fields: PduFields, onAccepted: (id: string) => void): Promise<SendResult> {
    try {
      await session.bound() // before the window, so that no queue builds up while there is no connection
      if (!(await slots.take(times.waitMs))) return retry('Too many messages wait for the SMS centre.')
    } catch (error) {
      return retry((error as Error).message)
    }
    try {
      const connection = await session.bound()
      if (!(await rateLimit.take(times.waitMs))) return retry('The SMS centre limits our rate.')
      return resultOf(await request(connection, fields, onAccepted))
    } catch (error) {
      return retry((error as Error).message)
    } finally {
      slots.release()
    }
  }

  // A submit without a reply may have been accepted. A reply after the deadline still counts.
  async function request(connection: SmppConnection, fields: PduFields, onAccepted: (id: string) => void) {
    const answer = connection.request('submit_sm', fields).then(pdu => {
      if (isAccepted(pdu)) onAccepted(String(pdu.message_id ?? ''))
      if (pdu.command_status === errors.ESME_RINVBNDSTS) connection.end('The SMS centre lost the bind.')
      return pdu
    })
    const answered = withTimeout(answer, times.answerMs, 'No answer from the SMS centre.')
    pending.add(answered)
    return answered.finally(() => pending.delete(answered))
  }

  function resultOf(pdu: Pdu): SendResult {
    if (isAccepted(pdu)) {
      warnings.succeeded()
      return { state: 'sent' }
    }
    const { result, isFault, isThrottled } = readStatus(pdu.command_status)
    if (isThrottled) rateLimit.slowDown()
    if (isFault) warnings.failed(result.reason)
    return result
  }

  return { submit, allAnswered: () => Promise.allSettled(pending), close: slots.close }
}

const isAccepted = (pdu: Pdu) => pdu.command === 'submit_sm_resp' && pdu.command_status === 0

const retry = (reason: string): SendResult => ({ state: 'retry', reason })

const throttled = new Map([
  [errors.ESME_RTHROTTLED, 10_000],
  [errors.ESME_RMSGQFUL, 30_000],
])

const rejected = new Set([
  errors.ESME_RINVMSGLEN,
  errors.ESME_RINVDSTADR,
  errors.ESME_RINVNUMDESTS,
  errors.ESME_RINVDLNAME,
  errors.ESME_RINVDESTFLAG,
  errors.ESME_RINVDSTTON,
  errors.ESME_RINVDSTNPI,
  errors.ESME_RX_P_APPN,
  errors.ESME_RX_R_APPN,
])

// Rejected because of our settings or our account, not because of the recipient.
const rejectedByFault = new Set([
  errors.ESME_RINVSRCADR,
  errors.ESME_RINVSRCTON,
  errors.ESME_RINVSRCNPI,
  errors.ESME_RINVSERTYP,
  errors.ESME_RINVREGDLVFLG,
  errors.ESME_RINVESMCLASS,
  errors.ESME_RINVDCS,
  errors.ESME_RINVSYSTYP,
  errors.ESME_RPROHIBITED,
])

type NotSent = Exclude<SendResult, { state: 'sent' }>
type SubmitStatus = { result: NotSent; isFault?: boolean; isThrottled?: boolean } // the operator can fix a fault

// An unknown or vendor-specific status may mean anything, so the message is retried.
function readStatus(status: number): SubmitStatus {
  const reason = `The SMS centre answered ${statusName(status)}.`
  const afterMs = throttled.get(status)
  if (afterMs !== undefined) return { result: { state: 'retry', reason, afterMs }, isThrottled: true }
  if (rejected.has(status)) return { result: { state: 'rejected', reason } }
  if (rejectedByFault.has(status)) return { result: { state: 'rejected', reason }, isFault: true }
  return { result: { state: 'retry', reason }, isFault: true }
}

const maxSlowness = 16
const throttlePauseMs = 1000 // nothing is sent right after a throttling reply

// Spaces the submits evenly. Each throttling reply halves the rate for a while.
function createSmppRateLimit(rate: number, slowMs: number) {
  let nextAt = 0
  let slowness = 1
  let slowUntil = 0
  return {
    // False: it would take longer than `maxMs`.
    async take(maxMs: number): Promise<boolean> {
      const now = performance.now()
      if (now >= slowUntil) slowness = 1
      const at = Math.max(now, nextAt)
      if (at - now > maxMs) return false
      nextAt = at + (1000 / rate) * slowness
      if (at > now) await sleep(at - now)
      return true
    },
    slowDown() {
      const now = performance.now()
      slowness = Math.min(slowness * 2, maxSlowness)
      slowUntil = now + slowMs
      nextAt = Math.max(nextAt, now + Math.min(throttlePauseMs, slowMs))
    },
  }
}
