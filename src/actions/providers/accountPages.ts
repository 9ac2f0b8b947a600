import type { Mode } from '../../core/mode.ts'
import { addEnded, noneEnded, readEndedKey } from '../../core/operator/minuteCounts.ts'
import { sumMinutes } from '../../core/operator/liveFigures.ts'
import { egressSettings, type SettingChange } from '../../core/provider/accountSettings.ts'
import { type HealthRow, summarizeHealth } from '../../core/provider/health.ts'
import type { Provider, ProviderSetting } from '../../core/provider/provider.ts'
import { isPlainText } from '../../core/text.ts'
import { newAccountName } from '../../runtime/ids.ts'
import { type OpenedAccount, settingsOfStored } from '../../runtime/providers/accounts.ts'
import type { Db } from '../../store/db.ts'
import { nodeMinutesBetween } from '../../store/installation/nodeMinutes.ts'
import { findMerchant } from '../../store/merchants/merchants.ts'
import {
  addStoredAccount,
  changingAccounts,
  findAccount,
  type StoredAccount,
} from '../../store/providers/accounts.ts'
import { listHealth } from '../../store/providers/health.ts'
import { audited, auditedDb } from '../access/audit.ts'
import { type AccountSetup, prepareAccount } from './addAccount.ts'
import { type AccountCheck, checkAccount } from './checkAccount.ts'
import { type AccountChanger, attemptsInQuestion, prepareChange, changeAccount } from './setAccount.ts'

// The accounts of this gateway as the operator's pages see them, and what opens and seals new ones.
export type AccountsOfGateway = { accounts(): readonly OpenedAccount[]; setup: AccountSetup }

const checkTimeoutMs = 12_000 // proxies wait 20 seconds for a page
const judgedMs = 15 * 60_000

export type MethodFigures = Awaited<ReturnType<typeof readMethodFigures>>[number]

// The rates of the last 15 minutes and the present health of each payment method of an account.
export async function readMethodFigures(db: Db, account: string, methods: readonly string[], now: Date) {
  const [minutes, health] = await Promise.all([
    nodeMinutesBetween(db, new Date(now.getTime() - judgedMs), new Date(now.getTime() + 60_000)),
    listHealth(db),
  ])
  const ended = Object.entries(sumMinutes(minutes).ended)
  const own = health.filter((row: HealthRow) => row.provider_account === account)
  const names = [...new Set([...methods, ...own.map(row => row.payment_method)])]
  return names.map(payment_method => ({
    payment_method,
    ended: ended
      .filter(([key]) => {
        const of = readEndedKey(key)
        return of.account === account && of.payment_method === payment_method
      })
      .reduce((sum, [, counts]) => addEnded(sum, counts), noneEnded),
    ...summarizeHealth(
      own.filter(row => row.payment_method === payment_method),
      now,
    ),
  }))
}

export const findStoredAccount = (db: Db, account: string): Promise<StoredAccount | undefined> =>
  isPlainText(account) ? findAccount(db, account) : Promise.resolve(undefined)

// The fields of a form: the provider's settings, and how requests leave the machine.
export const settingFields = (provider: Provider): readonly ProviderSetting[] => [
  ...provider.settings,
  ...egressSettings,
]

export const newAccountId = newAccountName

export type AccountFaults = { fields: Readonly<Record<string, string>>; others: readonly string[] }

// Faults name the setting first.
function faultsOf(faults: readonly string[], known: readonly ProviderSetting[]): AccountFaults {
  const read = faults.map(fault => {
    const [, name = '', text = fault] = /^(\w+): (.*)$/s.exec(fault) ?? []
    return { fault, name, text, isField: known.some(one => one.name === name) }
  })
  return {
    fields: Object.fromEntries(read.filter(one => one.isField).map(({ name, text }) => [name, text])),
    others: read.filter(one => !one.isField).map(({ fault }) => fault),
  }
}

type Typed = Readonly<Record<string, string>>
type Changing = AccountChanger & { db(): Db; setup: AccountSetup; clock(): Date } // `db`: with a new deadline

// `isUnchecked`: stored even if the provider refuses the settings.
export type NewAccountForm = {
  account: string // made when the form was shown, so that a form that is submitted twice adds one account
  provider: string
  mode: Mode
  merchant_id: string | null
  label: string | null
  typed: Typed
  isUnchecked: boolean
}

export type AccountOutcome =
  | { done: 'saved' | 'already' | 'changed'; check?: AccountCheck }
  | { done: 'faulty'; faults: AccountFaults; check?: AccountCheck }

const refusedSettings = (check: AccountCheck): AccountOutcome => ({
  done: 'faulty',
  check,
  faults: { fields: {}, others: [] },
})

const namePattern = /^[a-z]\w{0,39}-[0-9a-z]{6}$/

// The provider is asked first whether the settings are good, which charges nobody and happens outside of the transaction.
export async function addAccountForm(
  { db, setup, actor, by, clock }: Changing,
  { account, provider, mode, merchant_id, label, typed, isUnchecked }: NewAccountForm,
): Promise<AccountOutcome> {
  const kind = setup.providers.get(provider)
  if (!kind || !namePattern.test(account) || !account.startsWith(`${provider}-`))
    return { done: 'faulty', faults: { fields: {}, others: [] } }
  const known = settingFields(kind)
  if (merchant_id !== null && !(isPlainText(merchant_id) && (await findMerchant(db(), merchant_id))))
    return { done: 'faulty', faults: { fields: { merchant: 'no such merchant' }, others: [] } }
  const identity = { account, provider, mode, merchant_id }
  const prepared = prepareAccount(setup, identity, {}, givenIn(known, typed))
  if (prepared.faults) return { done: 'faulty', faults: faultsOf(prepared.faults, known) }
  const check = isUnchecked
    ? undefined
    : await checkAccount(kind, prepared.values, prepared.opened, checkTimeoutMs)
  if (check?.outcome === 'bad') return refusedSettings(check)
  const now = clock()
  const entry = {
    merchant_id,
    action: 'account.add',
    subject: account,
    before: null,
    after: { provider, mode, label, settings: Object.keys(prepared.values) },
  }
  const entryOf = (done: 'saved' | 'already') => (done === 'saved' ? entry : undefined)
  const recorded = auditedDb(db(), actor, now, entryOf, { change: 'payout', by })
  const done = await changingAccounts<'saved' | 'already'>(recorded, async tx => {
    if (await findAccount(tx, account)) return 'already'
    await addStoredAccount(tx, { ...identity, ...prepared.sealed, label, created_at: now })
    return 'saved'
  })
  return { done, check }
}

const givenIn = (known: readonly ProviderSetting[], typed: Typed): SettingChange[] =>
  known.flatMap(({ name }): SettingChange[] => (typed[name] ? [[name, typed[name]]] : []))

// A secret that is left empty stays as it is. Any other setting that is left empty has its default again.
const changesIn = (known: readonly ProviderSetting[], typed: Typed): SettingChange[] =>
  known.flatMap(({ name, isSecret }): SettingChange[] =>
    isSecret && !typed[name] ? [] : [[name, typed[name] ?? '']],
  )

export type AccountChange = {
  seen: string // the version that the page showed
  label: string | null
  typed: Typed
  business: 'same' | 'other' | undefined // whose the new credentials are
  isUnchecked: boolean
}

// `needsBusiness`: the credentials are others, and it is not said whether they belong to the same business.
export type ChangeOutcome = AccountOutcome | { done: 'needs_business'; attempts: number }

export async function changeAccountForm(
  { db, setup, actor, by, clock }: Changing,
  row: StoredAccount,
  { seen, label, typed, business, isUnchecked }: AccountChange,
): Promise<ChangeOutcome> {
  if (String(row.version) !== seen) return { done: 'changed' }
  const kind = setup.providers.get(row.provider)
  if (!kind) return { done: 'changed' }
  const known = settingFields(kind)
  const prepared = prepareChange(setup, row, changesIn(known, typed))
  if (prepared.faults) return { done: 'faulty', faults: faultsOf(prepared.faults, known) }
  const attempts = await attemptsInQuestion(db(), prepared)
  if (attempts !== undefined && business === undefined) return { done: 'needs_business', attempts }
  const check = isUnchecked
    ? undefined
    : await checkAccount(kind, prepared.values, prepared.opened, checkTimeoutMs)
  if (check?.outcome === 'bad') return refusedSettings(check)
  const changed = { ...prepared.stored, label }
  const credentials = { ...prepared, isSameBusiness: business === 'same' }
  const saved = await changeAccount(db(), { actor, by }, row, changed, clock(), credentials)
  return { done: savedOutcome[saved], check }
}

const savedOutcome = { saved: 'saved', changed_meanwhile: 'changed' } as const

// Idempotent: an account that is in this state already is not changed.
export async function setAccountEnabled(
  db: Db,
  changer: AccountChanger,
  row: StoredAccount,
  { isEnabled, seen }: { isEnabled: boolean; seen: string },
  now: Date,
): Promise<'saved' | 'already' | 'changed'> {
  if ((row.disabled_at === null) === isEnabled) return 'already'
  if (String(row.version) !== seen) return 'changed'
  return savedOutcome[await changeAccount(db, changer, row, { disabled_at: isEnabled ? null : now }, now)]
}

// Asks the provider whether the stored settings are good. No cached token hides that they no longer get one.
export async function testStoredAccount(
  { db, setup, actor, clock }: Changing,
  row: StoredAccount,
): Promise<AccountCheck> {
  const check = await checkStored(setup, row)
  await audited(db(), actor, clock(), (_tx, record) =>
    record({
      merchant_id: row.merchant_id,
      action: 'account.test',
      subject: row.account,
      before: null,
      after: { outcome: check.outcome },
    }),
  )
  return check
}

async function checkStored(setup: AccountSetup, row: StoredAccount): Promise<AccountCheck> {
  const kind = setup.providers.get(row.provider)
  if (!kind) return { outcome: 'no_check', words: 'This release has no such provider.' }
  const values = settingsOfStored(row, setup)
  const prepared = prepareAccount(setup, row, values, [])
  if (prepared.faults) return { outcome: 'bad', words: prepared.faults.join(' ') }
  return checkAccount(kind, values, prepared.opened, checkTimeoutMs)
}
