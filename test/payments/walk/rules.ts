import { applyReply } from '../../../src/core/payment/applyReply.ts'
import { cancel, expire } from '../../../src/core/payment/end.ts'
import { giveUp } from '../../../src/core/payment/giveUp.ts'
import { whyNotStart } from '../../../src/core/payment/mayStart.ts'
import { reopen } from '../../../src/core/payment/reopen.ts'
import { maySendAgain } from '../../../src/core/payment/sendAgain.ts'
import { submit } from '../../../src/core/payment/submit.ts'

// The program's rules. A test replaces one by a broken one, to show that a walk finds the fault.
export const rules = {
  applyReply,
  cancel,
  expire,
  giveUp,
  maySendAgain,
  reopen,
  submit,
  whyNotStart,
}
export type Rules = typeof rules
