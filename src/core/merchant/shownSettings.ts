import { feeText } from './fee.ts'
import {
  type MerchantSettings,
  merchantSettingNames,
  readMerchantSettings,
  type SettingName,
  type SettingTexts,
  unreadableSettings,
} from './settings.ts'
import { totalLimitText } from './totalLimit.ts'

export type ShownSetting = {
  name: SettingName
  value: string | null // as an operator types it. Null: no value
  isDefault: boolean
  unreadable?: string // the stored text. The default applies, and what the setting would allow is refused
}

// Every setting, including defaults.
export function shownSettings(stored: SettingTexts): ShownSetting[] {
  const settings = readMerchantSettings(stored)
  const unreadable = new Set<string>(unreadableSettings(stored))
  return merchantSettingNames.map(name => ({
    name,
    value: asTyped(settings[name]),
    isDefault: stored?.[name] === undefined,
    ...(unreadable.has(name) && { unreadable: JSON.stringify(stored?.[name] ?? stored) }),
  }))
}

// Without a value the default is null.
export const defaultSetting = (name: SettingName) => asTyped(readMerchantSettings({})[name])

function asTyped(value: MerchantSettings[SettingName]): string | null {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (Array.isArray(value)) return value.length > 0 ? value.join(',') : null
  if (value !== null && typeof value === 'object' && 'every' in value) return totalLimitText(value)
  if (value !== null && typeof value === 'object' && 'rules' in value) return feeText(value) || null
  return typeof value === 'number' ? String(value) : typeof value === 'string' ? value : null
}
