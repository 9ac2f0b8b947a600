import type { Actor } from '../../core/access/audit.ts'
import { settingsEntry } from '../../core/access/auditEntries.ts'
import type { SettingName, SettingTexts } from '../../core/merchant/settings.ts'
import { settingTable, type SettingRule } from '../../core/merchant/settingTable.ts'
import { defaultSetting } from '../../core/merchant/shownSettings.ts'
import type { Db } from '../../store/db.ts'
import { findLogoRecord, findMerchant, lockMerchant } from '../../store/merchants/merchants.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { audited } from '../access/audit.ts'
import type { IpnPasswords } from './credentials.ts'
import { applySettings } from './setMerchant.ts'

// A field of a form: the stored text when the form was opened, and what was typed. An empty text is the default.
export type SettingField = { name: SettingName; seen: string; typed: string }

export type SettingFault =
  | { name: SettingName; text: string }
  | { name: SettingName; isStale: true; now: string } // it was changed since the form was opened

export type SavedSettings =
  | { done: 'saved'; ipn_passwords?: IpnPasswords }
  | { done: 'unchanged' }
  | { done: 'refused'; faults: readonly SettingFault[] }

type Saver = {
  actor: Actor
  by: string // the name of the user
  at: SettingRule['decidedBy'] // a user of the merchant may change only what the merchant decides
  masterKeys: MasterKeys
  now: Date
}

// The text of a setting in a form. Choosing the default of a list of choices restores it.
export const settingText = (name: SettingName, text: string | undefined): string =>
  text === undefined || (settingTable[name].choices && text === defaultSetting(name)) ? '' : text

const typedText = ({ name, typed }: SettingField) => settingText(name, typed.trim())

export const mayChange = (at: SettingRule['decidedBy'], name: SettingName) =>
  at === 'operator' || settingTable[name].decidedBy === 'merchant'

// Saves the settings of a form: all of them, or none if any is wrong or was changed since the form was opened. Only changed
// fields count, so that two people can change different settings at the same time, and the same form twice changes nothing.
export const saveSettingsForm = (
  db: Db,
  merchant_id: string,
  fields: readonly SettingField[],
  { actor, by, at, masterKeys, now }: Saver,
): Promise<SavedSettings> =>
  audited(db, actor, now, async (tx, record): Promise<SavedSettings> => {
    const merchant = await lockMerchant(tx, merchant_id)
    if (!merchant) return { done: 'unchanged' }
    const current = ({ name }: SettingField) => settingText(name, merchant.settings?.[name])
    const changed = fields.filter(
      field =>
        mayChange(at, field.name) && typedText(field) !== field.seen && typedText(field) !== current(field),
    )
    if (changed.length === 0) return { done: 'unchanged' }
    const stale = changed.filter(field => current(field) !== field.seen)
    if (stale.length > 0)
      return {
        done: 'refused',
        faults: stale.map(field => ({ name: field.name, isStale: true, now: current(field) })),
      }
    const changes = changed.map(field => `${field.name}=${typedText(field)}`)
    const saved = await applySettings(tx, merchant, changes, masterKeys, { by, now })
    if (saved.faults.length > 0) return { done: 'refused', faults: saved.faults.map(faultOf) }
    await record(settingsEntry(merchant_id, saved))
    return { done: 'saved', ipn_passwords: saved.ipn_passwords }
  })

// "expiry_minutes: must be from 5 to 10080"
function faultOf(fault: string): SettingFault {
  const [, name = '', text = ''] = /^(\w+): ([^]*)$/.exec(fault) ?? []
  return { name: name as SettingName, text }
}

export type SettingsView = { settings: SettingTexts; logo: Awaited<ReturnType<typeof findLogoRecord>> }

// What the settings page shows of a merchant.
export async function readSettings(db: Db, merchant_id: string): Promise<SettingsView | undefined> {
  const [merchant, logo] = await Promise.all([findMerchant(db, merchant_id), findLogoRecord(db, merchant_id)])
  return merchant && { settings: merchant.settings, logo }
}
