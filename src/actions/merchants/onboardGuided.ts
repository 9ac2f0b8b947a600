import type { Actor, AuditEntry } from '../../core/access/audit.ts'
import { changeSettings } from '../../core/merchant/settings.ts'
import { isEmail } from '../../core/text.ts'
import { newMerchantId } from '../../runtime/ids.ts'
import type { Db } from '../../store/db.ts'
import { findMerchant, lockMerchant, saveSettings } from '../../store/merchants/merchants.ts'
import { lockOnboarding } from '../../store/merchants/keyHandovers.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { audited } from '../access/audit.ts'
import { invite } from '../access/invitations.ts'
import { addHandover } from './keyHandover.ts'
import { onboard } from './onboard.ts'

const modes = ['test', 'live'] as const
const maxNameLength = 100
const idPattern = /^[0-9a-z]{10}$/

export type NewMerchant = {
  merchant_id: string // made when the form was shown, so that a form that is submitted twice makes one merchant
  name: string
  settings: Readonly<Record<string, string>> // as typed
  owner_email: string // who is invited as the owner; empty: nobody
}
export type FieldFaults = Readonly<Record<string, string>> // by the name of the field

type Onboarding = {
  db: Db
  masterKeys: MasterKeys
  actor: Actor
  user: { user_id: string; name: string; lang: string }
  now: Date
}

export const newMerchantForm = (): NewMerchant => ({
  merchant_id: newMerchantId(),
  name: '',
  settings: {},
  owner_email: '',
})

const changesOf = (settings: NewMerchant['settings']) =>
  Object.entries(settings).map(([name, value]) => `${name}=${value.trim()}`)

export function newMerchantFaults({ merchant_id, name, settings, owner_email }: NewMerchant): FieldFaults {
  const faults = changeSettings({}, changesOf(settings)).faults.map(fault => {
    const [, field = '', text = fault] = /^(\w+): (.*)$/s.exec(fault) ?? []
    return [field, text] as const
  })
  const line = name.trim()
  const isNamed = line !== '' && line.length <= maxNameLength && idPattern.test(merchant_id)
  return Object.fromEntries([
    ...faults,
    ...(owner_email === '' || isEmail(owner_email)
      ? []
      : [['owner_email', 'is not an email address'] as const]),
    ...(isNamed ? [] : [['name', `1 to ${maxNameLength} characters on one line`] as const]),
  ])
}

// Registers a merchant with its settings, puts its keys behind a one-time link, and invites its owner. All of it in one
// commit. The same form again changes nothing. 'not_invited': the owner has a user that was deactivated.
export const onboardGuided = (
  { db, masterKeys, actor, user, now }: Onboarding,
  { merchant_id, name, settings, owner_email }: NewMerchant,
): Promise<'made' | 'already' | 'not_invited'> =>
  audited(db, actor, now, async (tx, record) => {
    await lockOnboarding(tx)
    if (await findMerchant(tx, merchant_id)) return 'already'
    const inside: Db = { ...db, transaction: work => work(tx) }
    const { test, live } = await onboard(inside, masterKeys, name.trim(), modes, now, merchant_id)
    const { texts } = changeSettings({}, changesOf(settings))
    await saveSettings(tx, merchant_id, texts)
    const merchant = await lockMerchant(tx, merchant_id)
    if (!merchant || !test || !live) throw new Error('the merchant was not stored')
    await addHandover({ tx, masterKeys, merchant, user_id: user.user_id, now }, { test, live })
    await record(addedEntry(merchant_id, name.trim(), texts))
    if (owner_email === '') return 'made'
    const owner = { merchant_id, role: 'owner', outlets: null } as const
    const change = { actor, by: user.name, now }
    const invited = await invite(inside, { email: owner_email, lang: user.lang }, owner, change)
    return typeof invited === 'string' ? 'not_invited' : 'made'
  })

const addedEntry = (merchant_id: string, name: string, settings: Record<string, string>): AuditEntry => ({
  merchant_id,
  action: 'merchant.add',
  subject: merchant_id,
  before: null,
  after: { name, settings: Object.keys(settings) },
})
