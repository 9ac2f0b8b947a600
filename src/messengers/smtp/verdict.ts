import type { Sent } from '../../core/message/messenger.ts'
import { tidy } from '../common/warnOnChange.ts'

// What nodemailer adds to an error.
type SmtpError = Error & { code?: string; response?: string; responseCode?: number; command?: string }

export type SmtpVerdict = { sent: Sent; fault?: string } // a fault is the operator's to mend

// Refused by a server that wants us to log in, to encrypt, or to begin again: not on account of this letter.
const notTheLetters = new Set([503, 530, 534, 535, 538])

// Only a plain no to the letter itself ends it. Whatever happens to the line may happen to any letter.
export function smtpVerdict(error: SmtpError): SmtpVerdict {
  const { code, response, responseCode = 0, command } = error
  const words = tidy(error.message)
  const aboutLetter = (code === 'EENVELOPE' || code === 'EMESSAGE') && !notTheLetters.has(responseCode)
  if (!aboutLetter) return { sent: { state: 'later', words }, fault: words }
  const plainNo = response === undefined || (responseCode >= 500 && responseCode <= 599) // ours, or the server's
  if (!plainNo) return { sent: { state: 'later', words } }
  const fault = command === 'MAIL FROM' ? words : undefined // the sender is ours
  return { sent: { state: 'never', words }, fault }
}
