import type { Sent } from '../../core/message/messenger.ts'
import { errors, statusName } from './library.ts'

export type SmppVerdict = { sent: Sent; fault?: boolean; tooFast?: boolean } // a fault is the operator's to mend

const tooFast = new Map([
  [errors.ESME_RTHROTTLED, 10_000],
  [errors.ESME_RMSGQFUL, 30_000],
])

const never = new Set([
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

// Never, too, but on account of our settings or our account rather than of the recipient.
const neverByFault = new Set([
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

// A number that we do not know, or one of the operator's own making, may mean anything: it is tried again.
export function smppVerdict(status: number): SmppVerdict {
  const words = `The SMS centre answered ${statusName(status)}.`
  const afterMs = tooFast.get(status)
  if (afterMs !== undefined) return { sent: { state: 'later', words, afterMs }, tooFast: true }
  if (never.has(status)) return { sent: { state: 'never', words } }
  if (neverByFault.has(status)) return { sent: { state: 'never', words }, fault: true }
  return { sent: { state: 'later', words }, fault: true }
}
