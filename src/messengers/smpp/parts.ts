import { createHash } from 'node:crypto'
import { encodings, type PduFields } from './connection.ts'

const maxParts = 10 // each part is charged
const udhIndicator = 0x40
const ucs2 = 0x08

// How many characters fit into a single SMS and into a part of a longer one, whose header takes 6 of the 140 octets. A
// GSM character has 7 bits; one of the extension table counts twice.
const alphabets = {
  gsm: {
    single: 160,
    joined: 153,
    data_coding: 0,
    sizeOf: (char: string) => encodings.ASCII.encode(char).length,
  },
  ucs2: { single: 70, joined: 67, data_coding: ucs2, sizeOf: (char: string) => char.length },
} as const

// The text as one SMS, or as parts that the phone joins; undefined if it is too long. The reference that joins them is
// derived from the message id, so that a part that is sent again fits in.
export function splitMessage(text: string, id: string): PduFields[] | undefined {
  const gsm = encodings.ASCII.match(text) && !text.includes('\x1b')
  const alphabet = alphabets[gsm ? 'gsm' : 'ucs2']
  const encode = (part: string) => encodings[gsm ? 'ASCII' : 'UCS2'].encode(part)
  const { data_coding } = alphabet
  if (split(text, alphabet.single, alphabet.sizeOf).length <= 1)
    return [{ data_coding, esm_class: 0, short_message: encode(text) }]
  const texts = split(text, alphabet.joined, alphabet.sizeOf)
  if (texts.length > maxParts) return undefined
  const reference = createHash('sha256').update(id).digest()[0] ?? 0
  return texts.map((part, index) => {
    const header = Buffer.from([5, 0, 3, reference, texts.length, index + 1])
    return { data_coding, esm_class: udhIndicator, short_message: Buffer.concat([header, encode(part)]) }
  })
}

// Splits between characters, never inside an emoji or an escape sequence.
function split(text: string, room: number, sizeOf: (char: string) => number): string[] {
  const parts: string[] = []
  let part = ''
  let used = 0
  for (const char of text) {
    const size = sizeOf(char)
    if (used + size > room) {
      parts.push(part)
      part = ''
      used = 0
    }
    part += char
    used += size
  }
  return [...parts, part]
}
