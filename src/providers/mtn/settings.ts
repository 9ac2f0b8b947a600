import type { ProviderSetting, ProviderSettings } from '../../core/provider/provider.ts'
import type { Mode } from '../../core/mode.ts'
import { type Currency, isCurrency } from '../../core/money.ts'
import { ghanaNumbers, type Numbers } from '../../core/phone.ts'
import { readUrl } from '../../core/text.ts'
import { type OperatorUrl, operatorUrl } from '../../core/urlTrust.ts'

export const mtnSettings: readonly ProviderSetting[] = [
  {
    name: 'subscription_key',
    words: 'Of the product Collections: from your profile at momodeveloper.mtn.com, or the partner portal.',
    french:
      'Du produit Collections : dans votre profil sur momodeveloper.mtn.com, ou dans le portail partenaire.',
    isSecret: true,
  },
  {
    name: 'api_user',
    words: 'The API user, a UUID: made in the partner portal, or by you in the sandbox.',
    french:
      'L’utilisateur de l’API, un UUID : créé dans le portail partenaire, ou par vous dans l’environnement de test de MTN.',
  },
  {
    name: 'api_key',
    words: 'The API key of that user.',
    french: 'La clé d’API de cet utilisateur.',
    isSecret: true,
  },
  {
    name: 'environment',
    words: 'sandbox takes test payments; mtnghana and the other markets of MTN take real ones.',
    french:
      'sandbox prend des paiements de test ; mtnghana et les autres marchés de MTN en prennent de vrais.',
    usual: 'sandbox',
  },
  {
    name: 'currency',
    words:
      'Currency of the payments. MTN’s sandbox accepts euros only: there the same figure is sent as euros.',
    french:
      'Devise des paiements. L’environnement de test de MTN n’accepte que l’euro : le même montant y est envoyé en euros.',
    usual: 'GHS',
  },
  {
    name: 'url',
    words: 'MTN’s address. Empty: the usual address of the environment.',
    french: 'L’adresse de MTN. Vide : l’adresse habituelle de l’environnement.',
    usual: '',
  },
  {
    name: 'callbacks',
    words: 'on: MTN calls us back. The host of this gateway must be registered there as callback host.',
    french: 'on : MTN nous rappelle. L’hôte de cette passerelle doit y être enregistré comme callback host.',
    usual: 'off',
  },
  {
    name: 'check_holder',
    words: 'on: before a request MTN is asked whether the number has a wallet.',
    french: 'on : avant chaque demande, MTN indique si le numéro a un compte mobile money.',
    usual: 'off',
  },
  {
    name: 'disbursement_subscription_key',
    words:
      'For refunds: the subscription key of the product Disbursements. Empty, with the next two: refunds are paid back by hand.',
    french:
      'Pour les remboursements : la clé d’abonnement du produit Disbursements. Vide, comme les deux suivants : les remboursements se font à la main.',
    isSecret: true,
    usual: '',
  },
  {
    name: 'disbursement_api_user',
    words: 'For refunds: the API user of Disbursements, a UUID.',
    french: 'Pour les remboursements : l’utilisateur de l’API de Disbursements, un UUID.',
    usual: '',
  },
  {
    name: 'disbursement_api_key',
    words: 'For refunds: the API key of that user.',
    french: 'Pour les remboursements : la clé d’API de cet utilisateur.',
    isSecret: true,
    usual: '',
  },
]

// The credentials of one product of MTN. Each product has its own token.
export type MtnProduct = {
  product: 'collection' | 'disbursement'
  subscriptionKey: string
  apiUser: string
  apiKey: string
}

// The settings of an account, checked.
export type MtnAccount = {
  mode: Mode
  collection: MtnProduct
  disbursement?: MtnProduct // undefined: the account makes no refunds
  environment: string
  currency: Currency
  sandboxCurrency?: string // sent instead of the order's: MTN's sandbox accepts euros only
  url: OperatorUrl
  callsBack: boolean
  checksHolder: boolean
}

// Throws the name of a wrong setting, never its value: some of them are secret.
export function readMtnAccount(values: ProviderSettings): MtnAccount {
  const { environment = '', currency = '', url = '' } = values
  if (!/^[a-z]{3,40}$/.test(environment))
    throw new Error('environment: must be a target environment of MTN, such as sandbox or mtnghana')
  if (!isCurrency(currency)) throw new Error('currency: is not a known currency')
  const isSandbox = environment === 'sandbox'
  const market = markets[environment]?.currency ?? currency
  if (!isSandbox && market !== currency) throw new Error(`currency: ${environment} takes ${market}`)
  return {
    mode: isSandbox ? 'test' : 'live',
    collection: productOf('collection', values),
    ...(hasDisbursement(values) && { disbursement: productOf('disbursement', values) }),
    environment,
    currency,
    ...(isSandbox && { sandboxCurrency: 'EUR' }),
    url: readAddress(url || defaultUrl(isSandbox)),
    callsBack: isOn('callbacks', values),
    checksHolder: isOn('check_holder', values),
  }
}

const defaultUrl = (isSandbox: boolean) =>
  isSandbox ? 'https://sandbox.momodeveloper.mtn.com' : 'https://proxy.momoapi.mtn.com'

const credentialNames = ['subscription_key', 'api_user', 'api_key'] as const
const prefixes = { collection: '', disbursement: 'disbursement_' } as const

function productOf(product: MtnProduct['product'], values: ProviderSettings): MtnProduct {
  const [subscriptionKey, apiUser, apiKey] = credentialNames.map(name =>
    credential(`${prefixes[product]}${name}`, values),
  ) as [string, string, string]
  return { product, subscriptionKey, apiUser, apiKey }
}

// All three settings or none: with some of them refunds would fail one by one.
function hasDisbursement(values: ProviderSettings): boolean {
  const names = credentialNames.map(name => `${prefixes.disbursement}${name}`)
  const missing = names.filter(name => !values[name])
  if (missing.length === 0 || missing.length === names.length) return missing.length === 0
  throw new Error(`${missing[0]}: is missing. Refunds need all of ${names.join(', ')}`)
}

// Credentials are sent in headers, and a colon follows the user.
function credential(name: string, { [name]: value = '' }: ProviderSettings): string {
  if (!/^[\x21-\x39\x3b-\x7e]{1,200}$/.test(value))
    throw new Error(`${name}: must be of letters and digits, without spaces`)
  return value
}

function readAddress(text: string): OperatorUrl {
  const url = readUrl(text)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new Error('url: must begin with https://')
  return operatorUrl(text)
}

function isOn(name: string, { [name]: value }: ProviderSettings): boolean {
  if (value !== 'on' && value !== 'off') throw new Error(`${name}: must be on or off`)
  return value === 'on'
}

// MTN's markets by the name of their target environment.
type Market = {
  numbers: Numbers
  currency?: string // set if MTN is known to accept no other
}

// A wallet has a number of its country. The prefixes are not checked: MTN refuses numbers of other networks.
export const markets: Readonly<Record<string, Market>> = {
  mtnghana: { numbers: ghanaNumbers, currency: 'GHS' },
  mtnuganda: { numbers: { region: 'UG', country: '256', example: '0772 123456' }, currency: 'UGX' },
  mtncameroon: { numbers: { region: 'CM', country: '237', example: '6 71 23 45 67' }, currency: 'XAF' },
  mtnivorycoast: { numbers: { region: 'CI', country: '225', example: '05 12 34 56 78' }, currency: 'XOF' },
  mtnzambia: { numbers: { region: 'ZM', country: '260', example: '096 6123456' } },
  mtnbenin: { numbers: { region: 'BJ', country: '229', example: '01 97 12 34 56' } },
  mtncongo: { numbers: { region: 'CG', country: '242', example: '06 612 3456' } },
  mtnswaziland: { numbers: { region: 'SZ', country: '268', example: '7612 3456' } },
  mtnguineaconakry: { numbers: { region: 'GN', country: '224', example: '664 12 34 56' } },
  mtnsouthafrica: { numbers: { region: 'ZA', country: '27', example: '083 123 4567' } },
  mtnliberia: { numbers: { region: 'LR', country: '231', example: '088 123 4567' } },
}
