import type { ProviderSetting, ProviderSettings } from '../../core/provider/provider.ts'
import type { Mode } from '../../core/mode.ts'
import { type Currency, isCurrency } from '../../core/money.ts'
import { markets } from './markets.ts'
import { readUrl } from '../../core/text.ts'
import { type OperatorUrl, operatorUrl } from '../../core/urlTrust.ts'

export const mtnSettings: readonly ProviderSetting[] = [
  {
    name: 'subscription_key',
    words: 'Of the product Collections: in your profile at momodeveloper.mtn.com, or the partner portal.',
    isSecret: true,
  },
  { name: 'api_user', words: 'The API user, a UUID: made in the partner portal, or by you in the sandbox.' },
  { name: 'api_key', words: 'The API key of that user.', isSecret: true },
  {
    name: 'environment',
    words: 'sandbox takes test payments; mtnghana and whatever else MTN has given you take real ones.',
    usual: 'sandbox',
  },
  {
    name: 'currency',
    words: 'What payments are in. MTN’s sandbox knows euros alone: there the same figure is sent as euros.',
    usual: 'GHS',
  },
  { name: 'url', words: 'Where MTN listens. Empty: the usual address of the environment.', usual: '' },
  {
    name: 'callbacks',
    words: 'on: MTN calls us back. The host of this gateway must be registered there as callback host.',
    usual: 'off',
  },
  {
    name: 'check_holder',
    words: 'on: before a request MTN is asked whether the number has a wallet.',
    usual: 'off',
  },
]

// As the provider wants them.
export type MtnAccount = {
  mode: Mode
  subscriptionKey: string
  apiUser: string
  apiKey: string
  environment: string
  currency: Currency
  standIn?: string // for every currency, where the sandbox knows one alone
  url: OperatorUrl
  callsBack: boolean
  checksHolder: boolean
}

// What is wrong is thrown by the name of the setting, never with its value: two of them are secret.
export function readMtnAccount(given: ProviderSettings): MtnAccount {
  const { environment = '', currency = '', url = '' } = given
  if (!/^[a-z]{3,40}$/.test(environment))
    throw new Error('environment: must be a word of MTN, such as sandbox or mtnghana')
  if (!isCurrency(currency)) throw new Error('currency: is none that we know')
  const isSandbox = environment === 'sandbox'
  const market = markets[environment]?.currency ?? currency
  if (!isSandbox && market !== currency) throw new Error(`currency: ${environment} takes ${market}`)
  return {
    mode: isSandbox ? 'test' : 'live',
    subscriptionKey: credential('subscription_key', given),
    apiUser: credential('api_user', given),
    apiKey: credential('api_key', given),
    environment,
    currency,
    ...(isSandbox && { standIn: 'EUR' }),
    url: readAddress(url || usualUrl(isSandbox)),
    callsBack: isOn('callbacks', given),
    checksHolder: isOn('check_holder', given),
  }
}

const usualUrl = (isSandbox: boolean) =>
  isSandbox ? 'https://sandbox.momodeveloper.mtn.com' : 'https://proxy.momoapi.mtn.com'

// They travel in headers, the user before a colon.
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
