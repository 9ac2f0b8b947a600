import {
  type AccountSettings,
  applySettingChanges,
  egressSettings,
  type SettingChange,
  splitSecrets,
} from '../../core/provider/accountSettings.ts'
import type { Provider, ProviderAccount } from '../../core/provider/provider.ts'
import { newAccountName } from '../../runtime/ids.ts'
import { openDeclared, type Opening, providerCalled } from '../../runtime/providers/accounts.ts'
import { AccountFault } from '../../runtime/providers/openAccount.ts'
import type { Db } from '../../store/db.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { addStoredAccount, changingAccounts, type StoredAccount } from '../../store/providers/accounts.ts'
import { sealSettings } from '../../store/providers/sealedSettings.ts'

export const newIdentity = (facts: Omit<Identity, 'account'>): Identity => ({
  account: newAccountName(facts.provider),
  ...facts,
})

// Every node offers the account within a second after the commit.
export const addAccount = (
  db: Db,
  identity: Identity,
  { sealed }: Prepared,
  label: string | null,
  now: Date,
) => changingAccounts(db, tx => addStoredAccount(tx, { ...identity, ...sealed, label, created_at: now }))

export type AccountSetup = Pick<Opening, 'providers' | 'tools'> & { masterKeys: MasterKeys }
type Identity = Pick<StoredAccount, 'account' | 'provider' | 'mode' | 'merchant_id'>
type SealedSettings = Pick<StoredAccount, 'settings' | 'sealed_settings' | 'wrapped_key' | 'master_key_id'>

// An account with opened and sealed settings that is not stored yet.
export type Prepared = {
  faults?: undefined
  kind: Provider
  values: AccountSettings
  opened: ProviderAccount
  sealed: SealedSettings
}
export type Faulty = { faults: readonly string[] }

const settingsOfProvider = ({ settings }: Provider) => [...settings, ...egressSettings]

// Opens and seals an account with changed settings, or returns all faults, by name and never by value. Makes no connection.
export function prepareAccount(
  setup: AccountSetup,
  identity: Identity,
  before: AccountSettings,
  changes: readonly SettingChange[],
): Prepared | Faulty {
  const provider = providerCalled(setup, identity.provider)
  const known = settingsOfProvider(provider)
  const { values, faults } = applySettingChanges(known, before, changes)
  if (faults.length > 0) return { faults }
  try {
    const opened = openDeclared(identity, values, setup)
    const { settings, secrets } = splitSecrets(known, values)
    const sealed = sealSettings(setup.masterKeys, { ...identity, settings }, secrets)
    return { kind: provider, values, opened, sealed: { settings, ...sealed } }
  } catch (error) {
    return { faults: error instanceof AccountFault ? error.faults : [(error as Error).message] }
  }
}
