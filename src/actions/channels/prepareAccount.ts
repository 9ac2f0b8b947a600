import {
  type Change,
  changeAccount,
  egressSettings,
  type Given,
  splitSecrets,
} from '../../core/channel/accountSettings.ts'
import type { Channel, ChannelKind } from '../../core/channel/channel.ts'
import { kindOf, type Opening, openDeclared } from '../../runtime/channels/accounts.ts'
import { AccountFault } from '../../runtime/channels/openAccount.ts'
import type { StoredAccount } from '../../store/channels/accounts.ts'
import { sealSettings } from '../../store/channels/sealedSettings.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'

export type Desk = Pick<Opening, 'kinds' | 'tools'> & { masterKeys: MasterKeys }
export type Identity = Pick<StoredAccount, 'account' | 'channel' | 'mode' | 'merchant_id'>
type SealedSettings = Pick<StoredAccount, 'settings' | 'sealed_settings' | 'wrapped_key' | 'master_key_id'>

// Opened and sealed, and not stored yet.
export type Prepared = {
  faults?: undefined
  kind: ChannelKind
  given: Given
  opened: Channel
  sealed: SealedSettings
}
export type Faulty = { faults: readonly string[] }

export const settingsOfKind = ({ settings }: ChannelKind) => [...settings, ...egressSettings]

// What an account would be with these settings; or all that is wrong with them, by name and never by value. Nothing is
// connected.
export function prepareAccount(
  desk: Desk,
  identity: Identity,
  before: Given,
  changes: readonly Change[],
): Prepared | Faulty {
  const kind = kindOf(desk, identity.channel)
  const known = settingsOfKind(kind)
  const { given, faults } = changeAccount(known, before, changes)
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
