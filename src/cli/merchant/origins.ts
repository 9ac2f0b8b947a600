import { readMerchantSettings, type SettingWords, unreadableSettings } from '../../core/merchant/settings.ts'

// What it means that a merchant has registered no origins, and the one command that changes it.
export const registerCommand = (merchant_id: string) =>
  `tollgate merchant set ${merchant_id} allowed_origins=https://shop.example`

export const noOriginsWords =
  'No origins are registered: a payment may lead the customer on to any address. The hash does not cover these ' +
  'addresses, and where the request comes from a form or a link the customer holds them and can change them.'

export const originsAdvice = (merchant_id: string) =>
  `${noOriginsWords}\nRegister the shop's own, several with commas between: ${registerCommand(merchant_id)}`

// Those that cannot be read are some all the same.
export const hasNoOrigins = (words: SettingWords) =>
  readMerchantSettings(words).allowed_origins.length === 0 &&
  !unreadableSettings(words).includes('allowed_origins')
