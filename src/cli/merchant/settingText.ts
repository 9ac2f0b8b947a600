import {
  readMerchantSettings,
  type SettingName,
  type MerchantSettings,
  type SettingWords,
  merchantSettingNames,
  unreadableSettings,
} from '../../core/merchant/settings.ts'
import { totalLimitText } from '../../core/merchant/totalLimit.ts'

export type SettingLine = {
  name: string
  value: string | null
  isDefault: boolean
  unreadable?: string // what stands there, which cannot be read: the default holds, and doors that it guards are shut
}

// Every setting as an operator would type it, the defaults included. Null: there is none.
export function settingLines(words: SettingWords): SettingLine[] {
  const settings = readMerchantSettings(words)
  const unreadable = new Set<string>(unreadableSettings(words))
  return merchantSettingNames.map(name => ({
    name,
    value: spell(settings[name]),
    isDefault: words?.[name] === undefined,
    ...(unreadable.has(name) && { unreadable: JSON.stringify(words?.[name] ?? words) }),
  }))
}

function spell(value: MerchantSettings[SettingName]): string | null {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (Array.isArray(value)) return value.length > 0 ? value.join(',') : null
  if (value !== null && typeof value === 'object' && 'every' in value) return totalLimitText(value)
  return typeof value === 'number' ? String(value) : typeof value === 'string' ? value : null
}
