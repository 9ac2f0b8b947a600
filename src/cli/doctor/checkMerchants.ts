import { unreadableMerchants } from '../../actions/merchants/setMerchant.ts'
import { readMerchantSettings, sendsNoPassword, unreadableSettings } from '../../core/merchant/settings.ts'
import type { Db } from '../../store/db.ts'
import { liveMerchants, type Merchant } from '../../store/merchants/merchants.ts'
import { passwordStates, rotatePasswordCommand } from '../merchant/rotate.ts'
import { hasNoOrigins, registerOriginsCommand } from '../merchant/set.ts'
import { allChecks, type Check, checkFailed, checkOk, checkWarning, firstFew } from './check.ts'

export async function checkMerchants(db: Db): Promise<Check[]> {
  const merchants = await liveMerchants(db)
  return allChecks(
    await checkUnreadable(db),
    checkOrigins(merchants),
    checkFormIpnUrls(merchants),
    checkWithheldPasswords(merchants),
    checkGuessablePasswords(merchants),
  )
}

async function checkUnreadable(db: Db): Promise<Check> {
  const unreadable = await unreadableMerchants(db)
  if (unreadable.length === 0) return checkOk('merchants', 'all settings of all merchants can be read')
  const names = unreadable.map(({ merchant_id, settings }) => `${merchant_id} (${settings.join(', ')})`)
  return checkFailed(
    'merchants',
    `settings that cannot be read: ${firstFew(names, '; ')}`,
    'Set them again: tollgate merchant set ID NAME=VALUE. Until then what they would allow is refused.',
  )
}

function checkOrigins(merchants: readonly Merchant[]): Check {
  const open = merchants.filter(({ settings }) => hasNoOrigins(settings)).map(idOf)
  if (open.length === 0) return checkOk('origins', 'every merchant has registered its origins')
  return checkWarning(
    'origins',
    `a payment may send the customer to any address: no origins are registered for ${firstFew(open)}`,
    `Register the shop's own: ${registerOriginsCommand(open[0] ?? '')}`,
  )
}

// With registered origins or style basic, a request cannot name a foreign ipn_url anyway.
function checkFormIpnUrls(merchants: readonly Merchant[]): Check | undefined {
  const open = merchants.filter(({ settings }) => {
    const { form_ipn_url, ipn_style } = readMerchantSettings(settings)
    return hasNoOrigins(settings) && form_ipn_url === 'any' && ipn_style !== 'basic'
  })
  const [first] = open
  if (!first) return undefined
  const ipnUrl =
    readMerchantSettings(first.settings).ipn_url === null ? 'ipn_url=https://shop.example/ipn ' : ''
  return checkWarning(
    'ipn_url',
    `a customer can add any ipn_url to a payment form, even to a signed one: ${firstFew(open.map(idOf))}`,
    `Accept only the shop's own: tollgate merchant set ${first.merchant_id} ${ipnUrl}form_ipn_url=registered`,
  )
}

function checkWithheldPasswords(merchants: readonly Merchant[]): Check | undefined {
  const withheld = merchants.filter(isPasswordWithheld).map(idOf)
  if (withheld.length === 0) return undefined
  return checkFailed(
    'passwords',
    `ipn_style is basic, but neither ipn_url nor allowed_origins is set, so the password may not be sent, for ${firstFew(withheld)}`,
    `Notifications are sent without it. Set the shop's own address: tollgate merchant set ${withheld[0]} ipn_url=https://shop.example/ipn`,
  )
}

function checkGuessablePasswords(merchants: readonly Merchant[]): Check | undefined {
  const guessable = merchants.filter(one => passwordStates(one)?.live === 'merchant_id').map(idOf)
  if (guessable.length === 0) return undefined
  return checkWarning(
    'passwords',
    `the password of notifications in style basic is the merchant_id, which is not secret, for ${firstFew(guessable)}`,
    `Make one and give it to the shop: ${rotatePasswordCommand(guessable[0] ?? '', 'live')}`,
  )
}

// Unreadable settings are reported by checkUnreadable.
const isPasswordWithheld = ({ settings }: Merchant) =>
  sendsNoPassword(readMerchantSettings(settings)) &&
  !unreadableSettings(settings).some(name => name === 'ipn_url' || name === 'allowed_origins')

const idOf = ({ merchant_id }: { merchant_id: string }) => merchant_id
