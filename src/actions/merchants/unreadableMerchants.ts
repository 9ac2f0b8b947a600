import { type SettingName, unreadableSettings } from '../../core/merchant/settings.ts'
import type { Tx } from '../../store/db.ts'
import { merchantsWithSettings } from '../../store/merchants/merchants.ts'

export type UnreadableMerchant = { merchant_id: string; settings: readonly SettingName[] }
export type OnUnreadable = (merchants: readonly UnreadableMerchant[]) => void

// Merchants of whom a setting cannot be read, and which. They go on with its default, and doors that it guards are shut.
export async function unreadableMerchants(tx: Tx): Promise<UnreadableMerchant[]> {
  const all = await merchantsWithSettings(tx)
  return all.flatMap(({ merchant_id, settings: words }) => {
    const settings = unreadableSettings(words)
    return settings.length > 0 ? [{ merchant_id, settings }] : []
  })
}
