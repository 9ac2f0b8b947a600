import type { MessengerTools } from '../../core/message/messenger.ts'

const maxReason = 200
const maxRead = 1000 // characters of a reply: the patterns below are slow on long texts

// A server that is down fails every message. The log gets one line, and another one when the reason changes.
export function warnOnChange({ warn }: MessengerTools, name: string) {
  let lastReason = ''
  return {
    failed(reason: string) {
      if (reason === lastReason) return
      lastReason = reason
      warn(`${name}: ${reason}`)
    },
    succeeded() {
      lastReason = ''
    },
  }
}

export type Warnings = ReturnType<typeof warnOnChange>

// A reply as one short line for the log and the database, without email addresses and phone numbers.
export const cleanReason = (text: string) =>
  text
    .slice(0, maxRead)
    .toWellFormed()
    .replace(/[^\s<>"'(]+@[^\s<>"')]+/g, '…@…')
    .replace(/\+?\d{9,15}/g, '…')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, maxReason)
