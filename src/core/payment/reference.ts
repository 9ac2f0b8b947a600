import { withoutDecoration } from '../phone.ts'

// Crockford's alphabet: no letter that is taken for a digit when it is read out on the phone.
export const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

const timeLength = 9
const tailLength = 9
const lastTime = 32 ** timeLength - 1
export const tailLimit = 32 ** tailLength

// Numbers below 2^53, so plain arithmetic: bit operations would cut them at 32 bits.
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

// What somebody read out, typed or pasted, as a reference; undefined when it is none. Nobody minds letter case, dashes or
// spaces, and who hears I, L or O writes what looks like it.
export function readReference(word: string): string | undefined {
  const text = withoutDecoration(word).toUpperCase()
  if (!/^TG[0-9A-Z]{18}$/.test(text)) return undefined
  const [, one = '', two = '', three = ''] = /^TG(.{6})(.{6})(.{6})$/.exec(asHeard(text)) ?? []
  return `TG-${one}-${two}-${three}`
}

const asHeard = (text: string) => text.replace(/[IL]/g, '1').replaceAll('O', '0')

// The least reference that a payment of this moment could have.
export const firstReferenceAt = (at: Date) => reference(Math.min(Math.max(at.getTime(), 0), lastTime), 0)
