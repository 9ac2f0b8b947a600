import { createHash } from 'node:crypto'
import { encodings, type Fields } from './library.ts'

const maxParts = 10 // nobody reads more, and each costs
const udhIndicator = 0x40
const ucs2 = 0x08

// What fits into one message, and into one of several: the header that joins them takes six octets of 140. A character
// of the GSM alphabet has seven bits, and those behind its escape take two places.
const alphabets = {
  gsm: {
    single: 160,
    joined: 153,
    data_coding: 0,
    places: (char: string) => encodings.ASCII.encode(char).length,
  },
  ucs2: { single: 70, joined: 67, data_coding: ucs2, places: (char: string) => char.length },
} as const

// The message as one SMS or as several that the phone joins. The reference that joins them is made from the letter's
// id: a part that is sent again falls into its place. Undefined: too long.
export function partsOf(text: string, id: string): Fields[] | undefined {
  const gsm = encodings.ASCII.match(text) && !text.includes('\x1b')
  const alphabet = alphabets[gsm ? 'gsm' : 'ucs2']
  const encode = (part: string) => encodings[gsm ? 'ASCII' : 'UCS2'].encode(part)
  const { data_coding } = alphabet
  if (cut(text, alphabet.single, alphabet.places).length <= 1)
    return [{ data_coding, esm_class: 0, short_message: encode(text) }]
  const texts = cut(text, alphabet.joined, alphabet.places)
  if (texts.length > maxParts) return undefined
  const reference = createHash('sha256').update(id).digest()[0] ?? 0
  return texts.map((part, index) => {
    const header = Buffer.from([5, 0, 3, reference, texts.length, index + 1])
    return { data_coding, esm_class: udhIndicator, short_message: Buffer.concat([header, encode(part)]) }
  })
}

// By whole characters: half an emoji or half an escape is none.
function cut(text: string, room: number, places: (char: string) => number): string[] {
  const parts: string[] = []
  let part = ''
  let used = 0
  for (const char of text) {
    const size = places(char)
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
