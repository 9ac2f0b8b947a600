import { isPlainText } from '../text.ts'

// An outlet is a branch of a merchant, which payment requests name by its code.

const maxOutletName = 120

// Merchants send it as extra_outlet, and people read it aloud, so it has no special characters.
export const isOutletCode = (text: string) => /^[A-Za-z0-9._-]{1,64}$/.test(text)

export const isOutletName = (text: string) =>
  text !== '' && text === text.trim() && text.length <= maxOutletName && isPlainText(text)
