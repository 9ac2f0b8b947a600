import { en, type LetterTexts } from './en.ts'
import { fr } from './fr.ts'

// The languages of messages, one file each. A new one is a new file and its name here.
export const letterLanguages = { en, fr } as const satisfies Record<string, LetterTexts>
export type LetterLang = keyof typeof letterLanguages

// The language of a row may be one that we do not speak, or no longer.
export const letterLang = (word: string): LetterLang =>
  Object.hasOwn(letterLanguages, word) ? (word as LetterLang) : 'en'
