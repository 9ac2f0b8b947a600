import type { MerchantSettings } from './settings.ts'

// A stored picture, without its bytes.
export type LogoFacts = { digest: string; type: 'png' | 'jpeg'; width: number; height: number }

// The look of a merchant's pages, and its contact for customers.
export type Branding = {
  logo?: string // its path on this gateway
  logo_width?: number // in pixels
  logo_height?: number
  accent?: string // #rrggbb
  support_phone?: string // E.164
  support_email?: string
  terms_url?: string
  refund_policy?: string // one short line, such as "Refunds within 7 days"
}

export const logoPath = (merchant_id: string, { digest, type }: Pick<LogoFacts, 'digest' | 'type'>) =>
  `/public/logos/${merchant_id}/${digest}.${type === 'png' ? 'png' : 'jpg'}`

export function brandingOf(
  merchant_id: string,
  settings: MerchantSettings,
  logo: LogoFacts | null,
): Branding {
  const { accent, support_phone, support_email, terms_url, refund_policy } = settings
  return {
    ...(logo && { logo: logoPath(merchant_id, logo), logo_width: logo.width, logo_height: logo.height }),
    ...(accent && { accent }),
    ...(support_phone && { support_phone }),
    ...(support_email && { support_email }),
    ...(terms_url && { terms_url }),
    ...(refund_policy && { refund_policy }),
  }
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

const firstOf = (word: string) => graphemes.segment(word)[Symbol.iterator]().next().value?.segment ?? ''

// Shown in place of a logo: the first letters of the first two words. Punctuation before a word is skipped. A script without
// capitals gives one letter, because two of them would read as a word. A name of emojis gives the first.
export function initialsOf(name: string): string {
  const words = name
    .normalize('NFC')
    .split(/\s+/)
    .map(word => firstOf(word.replace(/^[^\p{L}\p{N}]+/u, '')))
    .filter(Boolean)
  const [one = firstOf(name.replace(/^[\p{C}\s]+/u, '')), two = ''] = words
  return /^[\p{Lu}\p{Ll}\p{Lt}\p{N}]/u.test(one) ? (one + two).toLocaleUpperCase('en') : one
}
