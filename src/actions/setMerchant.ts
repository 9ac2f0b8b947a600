import { changeSettings, type SettingWords } from '../core/settings.ts'
import type { Db } from '../store/db.ts'
import { lockMerchant, saveSettings } from '../store/merchants.ts'

// Changes settings by `name=value` words: all of them, or none when any is at fault. Gives back undefined
// when there is no such merchant.
export function setMerchant(
  db: Db,
  merchant_id: string,
  changes: readonly string[],
): Promise<{ words: SettingWords; faults: string[] } | undefined> {
  return db.transaction(async tx => {
    const merchant = await lockMerchant(tx, merchant_id)
    if (!merchant) return undefined
    const changed = changeSettings(merchant.settings, changes)
    if (changed.faults.length === 0) await saveSettings(tx, merchant_id, changed.words)
    return changed
  })
}
