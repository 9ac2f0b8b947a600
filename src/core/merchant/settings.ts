import { z } from 'zod'
import { noFee, readFee } from './fee.ts'
import { isOwnExtraName, ownExtraNames } from '../extraNames.ts'
import { currencies, type Currency, formatMoney, isCurrency, defaultCurrency } from '../money.ts'
import { parsePhone } from '../phone.ts'
import { isAtMost, isPlainText, originOf, parseUrl } from '../text.ts'
import { accentFault, readAccent } from './accent.ts'
import { everyCurrency, leastIn, mostIn, readTotalLimit } from './totalLimit.ts'
import type { UntrustedUrl } from '../urlTrust.ts'

const maxPolicyLength = 60

// How a merchant is notified. `get` only asks it to check the status; `basic` is for older clients.
export const ipnStyles = ['post', 'get', 'basic'] as const
export type IpnStyle = (typeof ipnStyles)[number]

// Which ipn_url a request may contain: any, or one on the merchant's own origins.
const ipnUrlRules = ['any', 'registered'] as const

// Each setting parses the text that an operator types. The text is stored, not the parsed value, so that a changed default
// applies to every merchant without that setting.
const onOff = z.enum(['on', 'off'], 'must be on or off').transform(text => text === 'on')

// The default is in hundredths of any currency.
const totalLimit = (defaultValue: bigint) =>
  z
    .string()
    .transform((text, context) => {
      const limit = readTotalLimit(text, defaultValue)
      if (typeof limit !== 'string') return limit
      context.addIssue(limit)
      return z.NEVER
    })
    .default(everyCurrency(defaultValue))

// An amount of refunds, such as the most of one day. Without a limit it is null, so there is no default figure.
const refundLimit = z.string().transform((text, context) => {
  const limit = readTotalLimit(text, 0n)
  if (typeof limit !== 'string' && limit.every > 0n) return limit
  context.addIssue(typeof limit === 'string' ? limit : 'needs a figure for every other currency, too')
  return z.NEVER
})

const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine(n => n >= min && n <= max, `must be from ${min} to ${max}`)

const url: z.ZodType<UntrustedUrl, string> = z
  .string()
  .refine(text => !parseUrl(text), 'must be an absolute http or https URL')

// A comma-separated list without duplicates.
const listOf = <Item extends string = string>(isValid: (item: string) => boolean, fault: string) =>
  z.string().transform((text, context) => {
    const list = [...new Set(text.split(',').map(item => item.trim()))]
    const wrong = list.find(item => !isValid(item))
    if (wrong === undefined) return list as Item[]
    context.addIssue(`${wrong || 'an empty word'} is ${fault}`)
    return z.NEVER
  })

const origins = listOf(
  item => originOf(item) === item && /^https?:/.test(item),
  'not an origin such as https://shop.example',
)

const maxFrames = 20

// They become part of a header, so only an ASCII host and a port are allowed.
const frames = origins.transform((list, context) => {
  const wrong = list.find(origin => !/^https?:\/\/[a-z\d.-]+(:\d+)?$/.test(origin))
  if (wrong === undefined && list.length <= maxFrames) return list
  context.addIssue(
    wrong ? `${wrong} is not an origin such as https://shop.example` : `at most ${maxFrames} origins`,
  )
  return z.NEVER
})

const names = (pattern: RegExp, what: string) => listOf(item => pattern.test(item), `not ${what}`)

// Names of a merchant's extra_ fields, with or without the prefix. The gateway's own keys are refused, because their values
// are always masked.
const extraFields = names(
  /^(?!extra_$)(extra_)?[A-Za-z0-9_.-]{1,64}$/,
  'the name of an extra_ field, 1 to 64 letters, digits, _ . or -',
)
  .transform(list => [...new Set(list.map(name => name.replace(/^extra_/, '')))])
  .refine(
    list => !list.some(isOwnExtraName),
    `must not name a key of the gateway: ${[...ownExtraNames].join(', ')}`,
  )

const accent = z.string().transform((text, context) => {
  const fault = accentFault(text)
  if (fault === undefined) return readAccent(text)
  context.addIssue(fault)
  return z.NEVER
})

const phone = z
  .string()
  .transform(
    (text, context) =>
      parsePhone(text) ?? (context.addIssue('is not a possible phone number, such as 030 255 0100'), z.NEVER),
  )

const shortLine = z
  .string()
  .refine(text => isAtMost(text, maxPolicyLength), `at most ${maxPolicyLength} characters`)
  .refine(text => isPlainText(text) && text.trim() !== '', 'must be one line of text')

const fee = z
  .string()
  .transform((text, context) => {
    const rules = readFee(text)
    if (typeof rules !== 'string') return rules
    context.addIssue(rules)
    return z.NEVER
  })
  .default(noFee)

// Who bears the fee that a provider reports. `customer`: the provider adds it to the total.
export const feeBearers = ['merchant', 'operator', 'customer'] as const

// The name of a provider account or of a provider.
export const accountNamePattern = /^[a-z]\w{0,39}(-[0-9a-z]{6})?$/i

const settingSchemas = {
  errors_as_200: onOff.default(false),
  unsigned_requests: onOff.default(false),
  signed_status_checks: onOff.default(false),
  retry_after_failure: onOff.default(true),
  reopen_unpaid: onOff.default(true),
  long_invoice_ids: onOff.default(false),
  allowed_origins: origins.default([]),
  frame_origins: frames.default([]),
  public_extra: extraFields.default([]),
  min_total: totalLimit(1n),
  max_total: totalLimit(99_999_999n),
  currencies: listOf<Currency>(isCurrency, `none of ${currencies.join(', ')}`).default([defaultCurrency]),
  payment_methods: names(/^[a-z][a-z0-9_]{0,39}$/, 'a payment method such as mtn_mobile_money').default([]),
  providers: names(accountNamePattern, 'an account or a provider such as mtn-4f7k2q or mtn').default([]),
  rate_limit: whole(0, 1_000_000).default(1000),
  rate_burst: whole(1, 1_000_000).default(2000),
  expiry_minutes: whole(5, 7 * 24 * 60).default(60),
  ipn_url: url.nullable().default(null),
  ipn_style: z.enum(ipnStyles, 'must be post, get or basic').default('post'),
  form_ipn_url: z.enum(ipnUrlRules, 'must be any or registered').default('any'),
  contact_email: z.email('is not an email address').nullable().default(null),
  accent: accent.nullable().default(null),
  support_phone: phone.nullable().default(null),
  support_email: z.email('is not an email address').nullable().default(null),
  terms_url: url.nullable().default(null),
  refund_policy: shortLine.nullable().default(null),
  refunds: onOff.default(false), // in live mode; test mode always has them
  refund_daily_limit: refundLimit.nullable().default(null),
  refund_confirm_above: refundLimit.nullable().default(null),
  refund_approval_above: refundLimit.nullable().default(null),
  ipn_refunds: onOff.default(false),
  ipn_taken_payments: onOff.default(false),
  fee,
  provider_fee: z.enum(feeBearers, 'must be merchant, operator or customer').default('merchant'),
  fee_on_refund: z.enum(['keep', 'return'], 'must be keep or return').default('keep'),
}

const settingsSchema = z.object(settingSchemas)
export type MerchantSettings = z.output<typeof settingsSchema>
export type SettingTexts = Record<string, string>

export type SettingName = keyof typeof settingSchemas
export const merchantSettingNames = Object.keys(settingSchemas) as SettingName[]

// A setting that cannot be read, such as one of a newer version, has its default. Code that restricts access by a setting
// checks `unreadableSettings` first.
export const readMerchantSettings = (texts: SettingTexts): MerchantSettings => readTexts(texts).settings

// All settings if the stored value is not an object.
export const unreadableSettings = (texts: SettingTexts): readonly SettingName[] => readTexts(texts).unreadable

type ParsedSettings = { settings: MerchantSettings; unreadable: readonly SettingName[] }

// A cache, because every page and every change of a payment reads its merchant's settings. The key is the stored text, so a
// changed setting is parsed again.
const cache = new Map<string, ParsedSettings>()
const maxCached = 1000

function readTexts(texts: SettingTexts): ParsedSettings {
  const key = JSON.stringify(texts ?? null)
  const cached = cache.get(key)
  if (cached) return cached
  if (cache.size >= maxCached) cache.delete(cache.keys().next().value as string)
  const parsed = parseTexts(texts)
  cache.set(key, parsed)
  return parsed
}

// Frozen, because all readers share the cached object.
function parseTexts(texts: SettingTexts): ParsedSettings {
  const unreadable: SettingName[] = []
  const settings = merchantSettingNames.map(name => {
    const parsed = settingSchemas[name].safeParse(isObject(texts) ? texts[name] : undefined)
    if (!parsed.success || !isObject(texts)) unreadable.push(name)
    return [name, Object.freeze(parsed.success ? parsed.data : settingSchemas[name].parse(undefined))]
  })
  return {
    settings: Object.freeze(Object.fromEntries(settings) as MerchantSettings),
    unreadable: Object.freeze(unreadable),
  }
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

// Applies `name=value` changes; an empty value restores the default. Returns all faults together. Unreadable settings that
// are not changed stay as they are, so that each can be corrected by itself.
export function changeSettings(texts: SettingTexts, changes: readonly string[]) {
  const changed: SettingTexts = isObject(texts) ? { ...texts } : {}
  const faults: string[] = []
  const named = new Set<string>()
  for (const change of changes) {
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(change) ?? []
    named.add(name)
    if (!change.includes('=')) faults.push(`${change}: write it as ${change || 'NAME'}=VALUE`)
    else if (!isSettingName(name))
      faults.push(`${name}: no such setting; there are ${merchantSettingNames.join(', ')}`)
    else if (value === '') delete changed[name]
    else changed[name] = value
  }
  for (const issue of settingsSchema.safeParse(changed).error?.issues ?? []) {
    const name = issue.path.join('.')
    if (named.has(name)) faults.push(`${name}: ${issue.message}`)
  }
  if (faults.length === 0) faults.push(...crossedLimits(readMerchantSettings(changed)))
  const isPasswordChange = passwordSettings.some(name => named.has(name))
  if (faults.length === 0 && isPasswordChange && sendsNoPassword(readMerchantSettings(changed)))
    faults.push(noPasswordOrigin)
  return { texts: changed, faults }
}

const passwordSettings: readonly SettingName[] = ['ipn_style', 'ipn_url', 'allowed_origins']

// Style basic sends a password, and only to the merchant's own origins, so it needs at least one.
const noPasswordOrigin =
  'ipn_style: basic sends a password, which is sent only to the origins of the merchant; set ' +
  'ipn_url=https://shop.example/ipn or allowed_origins=https://shop.example with it, or choose another style first'

// The origins that belong to the merchant: those of allowed_origins and of the setting ipn_url. The hash of a request does
// not cover its ipn_url, so a customer can add one to a signed form. The notification password is sent to these origins
// only.
export function ownOrigins({
  allowed_origins,
  ipn_url,
}: Pick<MerchantSettings, 'allowed_origins' | 'ipn_url'>): readonly string[] {
  const origin = ipn_url === null ? undefined : originOf(ipn_url)
  return origin === undefined ? allowed_origins : [...new Set([...allowed_origins, origin])]
}

export const isOnOrigins = (address: string, allowed: readonly string[]) =>
  allowed.includes(originOf(address) ?? '')

export const sendsNoPassword = (settings: MerchantSettings) =>
  settings.ipn_style === 'basic' && ownOrigins(settings).length === 0

const crossedLimits = ({ min_total, max_total, currencies: accepted }: MerchantSettings) =>
  accepted
    .filter(currency => leastIn(min_total, currency) > mostIn(max_total, currency))
    .map(currency => {
      const most = formatMoney(mostIn(max_total, currency), currency)
      return `min_total: must not be more than max_total, which is ${currency} ${most}`
    })

const isSettingName = (name: string): name is SettingName =>
  merchantSettingNames.some(known => known === name)
