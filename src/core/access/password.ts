import { commonPasswords } from './commonPasswords.ts'

export const minPassword = 10
export const maxPassword = 200 // a long password costs no more to hash, but more to read

export type PasswordFault = 'short' | 'long' | 'common'

// Length counts, not the kinds of characters. A password of the built-in list, one without variety, and one made of the
// user's own name or address are among the first guesses.
export function passwordFault(password: string, own: readonly string[] = []): PasswordFault | undefined {
  const length = [...password].length
  if (length < minPassword) return 'short'
  if (length > maxPassword) return 'long'
  const plain = simplified(password)
  if (commonPasswords.has(plain) || commonPasswords.has(password.toLowerCase())) return 'common'
  if (new Set(password).size < 5 || isSequence(plain)) return 'common'
  const words = own.flatMap(text => text.split(/[@\s]+/)).map(simplified)
  return words.some(word => word.length > 3 && plain.includes(word) && plain.replaceAll(word, '').length < 4)
    ? 'common'
    : undefined
}

// Digits and marks at the end, and digits in place of letters, are the usual disguises.
const simplified = (text: string) =>
  text
    .toLowerCase()
    .replace(/[\d!.?*#@$_-]+$/, '')
    .replace(/[01345@$!]/g, char => disguises[char] ?? char)

const disguises: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'l',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '@': 'a',
  $: 's',
  '!': 'i',
}

const rows = ['abcdefghijklmnopqrstuvwxyz', 'qwertyuiopasdfghjklzxcvbnm', '01234567890123456789']

const isSequence = (text: string) =>
  text.length === 0 || rows.some(row => row.includes(text) || [...row].toReversed().join('').includes(text))
