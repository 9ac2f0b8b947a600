import {
  changeSettings,
  readMerchantSettings,
  type SettingName,
  type SettingTexts,
  unreadableSettings,
} from '../../core/merchant/settings.ts'
import type { NewPayment } from '../../core/payment/payment.ts'
import type { Db, Tx } from '../../store/db.ts'
import {
  listMerchants,
  lockMerchant,
  merchantsWithSettings,
  saveSettings,
} from '../../store/merchants/merchants.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { type IpnPasswords, makeIpnPasswords } from './credentials.ts'

export type SetMerchant = {
  before: SettingTexts
  texts: SettingTexts
  faults: string[]
  ipn_passwords?: IpnPasswords
}

// Applies `name=value` changes: all of them, or none if any is wrong. Undefined if there is no such merchant. A change to
// ipn_style=basic creates a password for each mode, which is shown only once. Without master keys none can be sealed, and
// the merchant's id stays the password.
export function setMerchant(
  db: Db,
  merchant_id: string,
  changes: readonly string[],
  masterKeys?: MasterKeys,
): Promise<SetMerchant | undefined> {
  return db.transaction(async tx => {
    const merchant = await lockMerchant(tx, merchant_id)
    if (!merchant) return undefined
    const changed = { ...changeSettings(merchant.settings, changes), before: merchant.settings }
    if (changed.faults.length > 0) return changed
    await saveSettings(tx, merchant_id, changed.texts)
    if (!masterKeys || isBasic(merchant.settings) || !isBasic(changed.texts)) return changed
    return { ...changed, ipn_passwords: await makeIpnPasswords(tx, masterKeys, merchant) }
  })
}

const isBasic = (texts: SettingTexts) => readMerchantSettings(texts).ipn_style === 'basic'

type UnreadableMerchant = { merchant_id: string; settings: readonly SettingName[] }
export type OnUnreadable = (merchants: readonly UnreadableMerchant[]) => void

// Merchants with settings that cannot be read. Such a setting has its default, and requests that it restricts are refused.
export async function unreadableMerchants(tx: Tx): Promise<UnreadableMerchant[]> {
  const all = await merchantsWithSettings(tx)
  return all.flatMap(({ merchant_id, settings: texts }) => {
    const settings = unreadableSettings(texts)
    return settings.length > 0 ? [{ merchant_id, settings }] : []
  })
}

// Adds the names of the merchants, which are easier to recognise than their ids.
export async function nameMerchants<T extends Pick<NewPayment, 'merchant_id'>>(db: Db, rows: readonly T[]) {
  const names = new Map((await listMerchants(db)).map(({ merchant_id, name }) => [merchant_id, name]))
  return rows.map(row => ({ ...row, merchant_name: names.get(row.merchant_id) ?? '' }))
}
