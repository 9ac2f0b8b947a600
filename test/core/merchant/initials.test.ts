import { expect, test } from 'vitest'
import { initialsOf } from '../../../src/core/merchant/branding.ts'

for (const [name, initials] of [
  ['Akua’s Kitchen', 'AK'],
  ['Ama Shop', 'AS'],
  ['jumia', 'J'],
  ['The Very Long Name Ltd', 'TV'],
  ['  Kofi   &  Sons ', 'KS'], // a sign is no word
  ['“Quoted” (and more)', 'QA'],
  ['24 Hour Shop', '2H'],
  ['🍲 Waakye Place', 'WP'],
  ['🍲🎩', '🍲'],
  ['👩🏽‍🍳', '👩🏽‍🍳'], // one picture of four characters
  ['école Étoile', 'ÉÉ'],
  ['e\u0301cole', 'É'], // the accent as a character of its own
  ['ɛdwom', 'Ɛ'],
  ['Ελληνικά Καφέ', 'ΕΚ'],
  ['مرحبا شلوم', 'م'],
  ['東京 商店', '東'],
  ['\u202eliaf', 'L'], // letters that turn the line are no letters
  ['\u2066\u2067', ''],
  ['...', '.'],
  ['', ''],
] as const)
  test(`${JSON.stringify(name)} gives ${initials}`, () => expect(initialsOf(name)).toBe(initials))
