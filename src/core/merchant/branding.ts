import type { MerchantSettings } from './settings.ts'

// A stored picture, without its bytes.
export type LogoFacts = { digest: string; type: 'png' | 'jpeg'; width: number; height: number }

// What a merchant's pages look like, and whom a customer asks.
export type Branding = {
  logo?: string // where its picture is, on our own host
  logo_width?: number // of that picture, in its own dots
  logo_height?: number
  accent?: string // #rrggbb
  support_phone?: string // E.164
  support_email?: string
  terms_url?: string
  refunds?: string // one short line, such as "Refunds within 7 days"
}

export const logoPath = (merchant_id: string, { digest, type }: Pick<LogoFacts, 'digest' | 'type'>) =>
  `/public/logos/${merchant_id}/${digest}.${type === 'png' ? 'png' : 'jpg'}`

export function brandingOf(
  merchant_id: string,
  settings: MerchantSettings,
  logo: LogoFacts | null,
): Branding {
  const { accent, support_phone, support_email, terms_url, refunds } = settings
  return {
    ...(logo && { logo: logoPath(merchant_id, logo), logo_width: logo.width, logo_height: logo.height }),
    ...(accent && { accent }),
    ...(support_phone && { support_phone }),
    ...(support_email && { support_email }),
    ...(terms_url && { terms_url }),
    ...(refunds && { refunds }),
  }
}
