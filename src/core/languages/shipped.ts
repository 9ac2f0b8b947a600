// One line for each language. A language that no native reader has read is not shipped: see docs/languages.md.
export { en } from './en.ts'
export { fr } from './fr.ts'
