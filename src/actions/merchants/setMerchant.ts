import type { OwnerAlert } from '../../core/access/ownerAlert.ts'
import {
  changeSettings,
  merchantSettingNames,
  readMerchantSettings,
  type SettingName,
  type SettingTexts,
  unreadableSettings,
} from '../../core/merchant/settings.ts'
import { settingTable } from '../../core/merchant/settingTable.ts'
import type { NewPayment } from '../../core/payment/payment.ts'
import type { Db, Tx } from '../../store/db.ts'
import {
  listMerchants,
  lockMerchant,
  type Merchant,
  merchantsWithSettings,
  saveSettings,
} from '../../store/merchants/merchants.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { mailOwners } from '../access/mailOwners.ts'
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
  told?: Told,
): Promise<SetMerchant | undefined> {
  return db.transaction(async tx => {
    const merchant = await lockMerchant(tx, merchant_id)
    return merchant && applySettings(tx, merchant, changes, masterKeys, told)
  })
}

// Who changed the settings, for the mail to the owners.
type Told = { by: string; now: Date }

// The merchant is locked.
export async function applySettings(
  tx: Tx,
  merchant: Merchant,
  changes: readonly string[],
  masterKeys?: MasterKeys,
  told?: Told,
): Promise<SetMerchant> {
  const { merchant_id, settings: before } = merchant
  const changed = { ...changeSettings(before, changes), before }
  if (changed.faults.length > 0) return changed
  await saveSettings(tx, merchant_id, changed.texts)
  const alert = alertOf(changed)
  if (told && alert) await mailOwners(tx, merchant_id, { change: alert, by: told.by }, told.now)
  if (!masterKeys || isBasic(before) || !isBasic(changed.texts)) return changed
  return { ...changed, ipn_passwords: await makeIpnPasswords(tx, masterKeys, merchant) }
}

// Which mail the owners get, if any.
function alertOf({ before, texts }: Pick<SetMerchant, 'before' | 'texts'>): OwnerAlert | undefined {
  const changed = merchantSettingNames.filter(
    name => settingTable[name].isSensitive && before?.[name] !== texts[name],
  )
  if (changed.length === 0) return undefined
  if (changed.includes('providers')) return 'payout'
  return changed.includes('ipn_url') ? 'ipn_url' : 'settings'
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
