import { withoutDecoration } from '../phone.ts'

// Crockford's alphabet: no letter that can be mistaken for a digit on the phone.
export const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

const timeLength = 9
const tailLength = 9
const lastTime = 32 ** timeLength - 1
export const tailLimit = 32 ** tailLength

// The numbers are below 2^53. Bit operations would truncate them to 32 bits.
export function spell(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = alphabet[rest % 32] + text
  return text
}

// TG-1M7J89-JYP3VR-KNSV16: the time to the millisecond, then 45 bits. References sort by time.
export function reference(time: number, tail: number): string {
  const text = (spell(time, timeLength) + spell(tail, tailLength)).toUpperCase()
  return `TG-${text.slice(0, 6)}-${text.slice(6, 12)}-${text.slice(12)}`
}

// Reads a reference that a person typed or pasted; undefined if it is none. Letter case, dashes and spaces do not matter,
// and I, L and O count as the digits that they look like.
export function parseReference(typed: string): string | undefined {
  const text = withoutDecoration(typed).toUpperCase()
  if (!/^TG[0-9A-Z]{18}$/.test(text)) return undefined
  const [, one = '', two = '', three = ''] = /^TG(.{6})(.{6})(.{6})$/.exec(withDigits(text)) ?? []
  return `TG-${one}-${two}-${three}`
}

const withDigits = (text: string) => text.replace(/[IL]/g, '1').replaceAll('O', '0')

// The smallest reference that a payment of this moment can have.
export const firstReferenceAt = (at: Date) => reference(Math.min(Math.max(at.getTime(), 0), lastTime), 0)

// The moment that a reference begins with.
export const timeOfReference = (tx_reference: string) =>
  new Date(
    [
      ...tx_reference
        .replace(/^TG-|-/g, '')
        .slice(0, timeLength)
        .toLowerCase(),
    ].reduce((time, letter) => time * 32 + Math.max(0, alphabet.indexOf(letter)), 0),
  )

const periodLength = 3 // characters of the time: 32 ** 6 ms are 12.4 days
const periodMs = 32 ** (timeLength - periodLength)

// The beginnings of all references from an oldest one to a time, newest first: the indexes of the search begin with them.
export function referencePeriods(oldest: string, to: Date): string[] {
  const periods: string[] = []
  for (let at = Math.floor(to.getTime() / periodMs); at >= 0; at--) {
    const period = `TG-${spell(at, periodLength).toUpperCase()}`
    if (period < oldest.slice(0, period.length)) break
    periods.push(period)
  }
  return periods
}
