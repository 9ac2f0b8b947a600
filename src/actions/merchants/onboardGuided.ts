import type { Actor, AuditEntry } from '../../core/access/audit.ts'
import { changeSettings } from '../../core/merchant/settings.ts'
import { newMerchantId } from '../../runtime/ids.ts'
import type { Db } from '../../store/db.ts'
import { findMerchant, lockMerchant, saveSettings } from '../../store/merchants/merchants.ts'
import { lockNewMerchant } from '../../store/merchants/merchantSearch.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { audited } from '../access/audit.ts'
import { addHandover } from './keyHandover.ts'
import { onboard } from './onboard.ts'

const modes = ['test', 'live'] as const
const maxNameLength = 100
const idPattern = /^[0-9a-z]{10}$/

export type NewMerchant = {
  merchant_id: string // made when the form was shown, so that a form that is submitted twice makes one merchant
  name: string
  settings: Readonly<Record<string, string>> // as typed
}
export type FieldFaults = Readonly<Record<string, string>> // by the name of the field

type Onboarding = { db: Db; masterKeys: MasterKeys; actor: Actor; user_id: string; now: Date }

export const newMerchantForm = (): NewMerchant => ({ merchant_id: newMerchantId(), name: '', settings: {} })

const changesOf = (settings: NewMerchant['settings']) =>
  Object.entries(settings).map(([name, value]) => `${name}=${value.trim()}`)

export function newMerchantFaults({ merchant_id, name, settings }: NewMerchant): FieldFaults {
  const faults = changeSettings({}, changesOf(settings)).faults.map(fault => {
    const [, field = '', text = fault] = /^(\w+): (.*)$/s.exec(fault) ?? []
    return [field, text] as const
  })
  const line = name.trim()
  const isNamed = line !== '' && line.length <= maxNameLength && idPattern.test(merchant_id)
  return Object.fromEntries([
    ...faults,
    ...(isNamed ? [] : [['name', `1 to ${maxNameLength} characters on one line`] as const]),
  ])
}

// Registers a merchant with its settings, and puts its keys behind a one-time link. All of it in one commit. The same form
// again changes nothing.
export const onboardGuided = (
  { db, masterKeys, actor, user_id, now }: Onboarding,
  { merchant_id, name, settings }: NewMerchant,
): Promise<'made' | 'already'> =>
  audited(db, actor, now, async (tx, record) => {
    await lockNewMerchant(tx, merchant_id)
    if (await findMerchant(tx, merchant_id)) return 'already'
    const inside: Db = { ...db, transaction: work => work(tx) }
    const { test, live } = await onboard(inside, masterKeys, name.trim(), modes, now, merchant_id)
    const { texts } = changeSettings({}, changesOf(settings))
    await saveSettings(tx, merchant_id, texts)
    const merchant = await lockMerchant(tx, merchant_id)
    if (!merchant || !test || !live) throw new Error('the merchant was not stored')
    await addHandover({ tx, masterKeys, merchant, user_id, now }, { test, live })
    await record(addedEntry(merchant_id, name.trim(), texts))
    return 'made'
  })

const addedEntry = (merchant_id: string, name: string, settings: Record<string, string>): AuditEntry => ({
  merchant_id,
  action: 'merchant.add',
  subject: merchant_id,
  before: null,
  after: { name, settings: Object.keys(settings) },
})
