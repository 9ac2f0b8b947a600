import { changeSettings, readMerchantSettings, type SettingWords } from '../../core/merchant/settings.ts'
import type { Db } from '../../store/db.ts'
import { lockMerchant, saveSettings } from '../../store/merchants/merchants.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { type IpnPasswords, makeIpnPasswords } from './ipnPassword.ts'

export type SetMerchant = { words: SettingWords; faults: string[]; ipn_passwords?: IpnPasswords }

// Changes settings by `name=value` words: all of them, or none when any is at fault. Gives back undefined
// when there is no such merchant. Who chooses ipn_style=basic gets a password for each mode, this once; without master
// keys none can be sealed, and the merchant's id is the password until one is made.
export function setMerchant(
  db: Db,
  merchant_id: string,
  changes: readonly string[],
  masterKeys?: MasterKeys,
): Promise<SetMerchant | undefined> {
  return db.transaction(async tx => {
    const merchant = await lockMerchant(tx, merchant_id)
    if (!merchant) return undefined
    const changed = changeSettings(merchant.settings, changes)
    if (changed.faults.length > 0) return changed
    await saveSettings(tx, merchant_id, changed.words)
    if (!masterKeys || !isChosen(merchant.settings, changed.words)) return changed
    return { ...changed, ipn_passwords: await makeIpnPasswords(tx, masterKeys, merchant) }
  })
}

const isBasic = (words: SettingWords) => readMerchantSettings(words).ipn_style === 'basic'
const isChosen = (before: SettingWords, after: SettingWords) => isBasic(after) && !isBasic(before)
