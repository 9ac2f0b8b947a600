import type { MessengerTools } from '../../core/message/messenger.ts'

const maxWords = 200
const maxRead = 1000 // of the other side's words: the patterns below take their time with long ones

// A line that is down fails for every letter; the operator wants to read it once, and again when it fails in another way.
export function warnOnChange({ warn }: MessengerTools, name: string) {
  let told = ''
  return {
    trouble(words: string) {
      if (words === told) return
      told = words
      warn(`${name}: ${words}`)
    },
    well() {
      told = ''
    },
  }
}

// Words of the other side, fit for a log and a table: one line, not long, and no address in them.
export const tidy = (words: string) =>
  words
    .slice(0, maxRead)
    .toWellFormed()
    .replace(/[^\s<>"'(]+@[^\s<>"')]+/g, '…@…')
    .replace(/\+?\d{9,15}/g, '…')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, maxWords)
