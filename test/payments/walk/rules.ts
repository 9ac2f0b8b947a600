import { applyReply } from '../../../src/core/payment/applyReply.ts'
import { maySendAgain } from '../../../src/core/payment/attempt.ts'
import { decideCancel, decideGiveUp, decideSubmit } from '../../../src/core/payment/customerActs.ts'
import { decideExpiry, decideReopen } from '../../../src/core/payment/expiry.ts'
import { whyNotBegin } from '../../../src/core/payment/mayStart.ts'

// The program's rules. A test replaces one by a broken one, to show that a walk finds the fault.
export const rules = {
  applyReply,
  cancel: decideCancel,
  expire: decideExpiry,
  giveUp: decideGiveUp,
  maySendAgain,
  reopen: decideReopen,
  submit: decideSubmit,
  whyNotStart: whyNotBegin,
}
export type Rules = typeof rules
