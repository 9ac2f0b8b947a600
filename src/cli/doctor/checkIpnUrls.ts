import type { Config } from '../../config.ts'
import { whyNeverCalled } from '../../core/addressRules.ts'
import { readMerchantSettings } from '../../core/merchant/settings.ts'
import { firstReferenceAt } from '../../core/payment/reference.ts'
import { notificationRules } from '../../start/egress.ts'
import type { Db } from '../../store/db.ts'
import { liveMerchants } from '../../store/merchants/merchants.ts'
import { recentIpnUrls } from '../../store/payments/reports.ts'
import { type Check, checkWarning, firstFew } from './check.ts'

const dayMs = 86_400_000
const mostRead = 200 // payments of one merchant

// Addresses of live notifications that the address guard always refuses: those of settings, and of the latest live
// payments of the last day. They are judged by their text, without a DNS lookup.
export async function checkIpnUrls(db: Db, config: Config, now: Date): Promise<Check | undefined> {
  const rules = notificationRules(config, config.DATABASE_URL === undefined)('live')
  const settings = (await liveMerchants(db)).flatMap(({ merchant_id, settings: texts }) => {
    const { ipn_url } = readMerchantSettings(texts)
    return ipn_url === null ? [] : [{ merchant_id, ipn_url }]
  })
  const recent = await recentIpnUrls(db, firstReferenceAt(new Date(now.getTime() - dayMs)), mostRead)
  const facts = new Set<string>()
  for (const { merchant_id, ipn_url } of [...settings, ...recent]) {
    const why = whyNeverCalled(ipn_url, rules)
    if (why !== undefined) facts.add(`${merchant_id}: ${why}`)
  }
  if (facts.size === 0) return undefined
  return checkWarning(
    'notifications',
    `live notifications to these addresses are never sent: ${firstFew([...facts], '; ')}`,
    'These shops have to poll the status. Ask them for a public address on port 80, 443 or 8443; for other ports see TOLLGATE_EGRESS_PORTS.',
  )
}
