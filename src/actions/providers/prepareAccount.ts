import {
  type SettingChange,
  applySettingChanges,
  egressSettings,
  type AccountSettings,
  splitSecrets,
} from '../../core/provider/accountSettings.ts'
import type { ProviderAccount, Provider } from '../../core/provider/provider.ts'
import { providerCalled, type Opening, openDeclared } from '../../runtime/providers/accounts.ts'
import { AccountFault } from '../../runtime/providers/openAccount.ts'
import type { StoredAccount } from '../../store/providers/accounts.ts'
import { sealSettings } from '../../store/providers/sealedSettings.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'

export type AccountSetup = Pick<Opening, 'providers' | 'tools'> & { masterKeys: MasterKeys }
export type Identity = Pick<StoredAccount, 'account' | 'provider' | 'mode' | 'merchant_id'>
type SealedSettings = Pick<StoredAccount, 'settings' | 'sealed_settings' | 'wrapped_key' | 'master_key_id'>

// Opened and sealed, and not stored yet.
export type Prepared = {
  faults?: undefined
  kind: Provider
  given: AccountSettings
  opened: ProviderAccount
  sealed: SealedSettings
}
export type Faulty = { faults: readonly string[] }

export const settingsOfProvider = ({ settings }: Provider) => [...settings, ...egressSettings]

// What an account would be with these settings; or all that is wrong with them, by name and never by value. Nothing is
// connected.
export function prepareAccount(
  desk: AccountSetup,
  identity: Identity,
  before: AccountSettings,
  changes: readonly SettingChange[],
): Prepared | Faulty {
  const kind = providerCalled(desk, identity.provider)
  const known = settingsOfProvider(kind)
  const { given, faults } = applySettingChanges(known, before, changes)
  if (faults.length > 0) return { faults }
  try {
    const opened = openDeclared(identity, given, desk)
    const { settings, secrets } = splitSecrets(known, given)
    const sealed = sealSettings(desk.masterKeys, { ...identity, settings }, secrets)
    return { kind, given, opened, sealed: { settings, ...sealed } }
  } catch (error) {
    return { faults: error instanceof AccountFault ? error.faults : [(error as Error).message] }
  }
}
