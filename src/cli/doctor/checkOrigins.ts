import { readMerchantSettings, sendsNoPassword, unreadableSettings } from '../../core/merchant/settings.ts'
import type { Db } from '../../store/db.ts'
import { liveMerchants, type Merchant } from '../../store/merchants/merchants.ts'
import { passwordStates, rotateCommand } from '../merchant/ipnPassword.ts'
import { hasNoOrigins, registerCommand } from '../merchant/origins.ts'
import { type Check, failed, fine, warning } from './check.ts'

const named = 5

// What merchants have left open that they could close with one command.
export async function checkOrigins(db: Db): Promise<Check[]> {
  const merchants = await liveMerchants(db)
  const open = merchants.filter(({ settings }) => hasNoOrigins(settings)).map(idOf)
  return [
    open.length === 0
      ? fine('origins', 'every merchant has registered where its customers may be led')
      : warning(
          'origins',
          `a payment may lead the customer on to any address: no origins are registered for ${some(open)}`,
          `Register the shop's own: ${registerCommand(open[0] ?? '')}`,
        ),
    ...checkIpnUrls(merchants),
    ...checkPasswords(merchants),
  ]
}

// With registered origins or style basic, a request cannot name a foreign ipn_url anyway.
function checkIpnUrls(merchants: readonly Merchant[]): Check[] {
  const open = merchants.filter(({ settings }) => {
    const { form_ipn_url, ipn_style } = readMerchantSettings(settings)
    return hasNoOrigins(settings) && form_ipn_url === 'any' && ipn_style !== 'basic'
  })
  const [first] = open
  if (!first) return []
  const ipnUrl =
    readMerchantSettings(first.settings).ipn_url === null ? 'ipn_url=https://shop.example/ipn ' : ''
  return [
    warning(
      'ipn_url',
      `a customer can add any ipn_url to a payment form, also to a signed one: ${some(open.map(idOf))}`,
      `Accept the shop's own only: tollgate merchant set ${first.merchant_id} ${ipnUrl}form_ipn_url=registered`,
    ),
  ]
}

function checkPasswords(merchants: readonly Merchant[]): Check[] {
  const nowhere = merchants.filter(hasNowhereToSendIt).map(idOf)
  const guessable = merchants.filter(one => passwordStates(one)?.live === 'merchant_id').map(idOf)
  return [
    ...(nowhere.length === 0
      ? []
      : [
          failed(
            'passwords',
            `ipn_style is basic, and neither ipn_url nor allowed_origins says where the password may be sent, for ${some(nowhere)}`,
            `Notifications are sent without it. Set the shop's own address: tollgate merchant set ${nowhere[0]} ipn_url=https://shop.example/ipn`,
          ),
        ]),
    ...(guessable.length === 0
      ? []
      : [
          warning(
            'passwords',
            `the password of notifications in style basic is the merchant_id, which is no secret, for ${some(guessable)}`,
            `Make one and give it to the shop: ${rotateCommand(guessable[0] ?? '', 'live')}`,
          ),
        ]),
  ]
}

// A setting that cannot be read has a check of its own.
const hasNowhereToSendIt = ({ settings }: Merchant) =>
  sendsNoPassword(readMerchantSettings(settings)) &&
  !unreadableSettings(settings).some(name => name === 'ipn_url' || name === 'allowed_origins')

const idOf = ({ merchant_id }: { merchant_id: string }) => merchant_id
const some = (ids: readonly string[]) =>
  ids.slice(0, named).join(', ') + (ids.length > named ? ` and ${ids.length - named} more` : '')
