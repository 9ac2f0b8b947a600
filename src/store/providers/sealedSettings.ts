import {
  type MasterKeys,
  newDataKey,
  openSecret,
  sealSecret,
  unwrapKey,
  type WrappedKey,
  wrapKey,
} from '../merchants/vault.ts'
import type { StoredAccount } from './accounts.ts'

// What an account is, beside its secrets. All of it is bound into them: whoever can write to the database can neither
// make a test account live, nor give one merchant's to another, nor lead the secrets to an address of his own.
type Bound = Pick<StoredAccount, 'account' | 'provider' | 'mode' | 'merchant_id' | 'settings'>
type Sealed = WrappedKey & Pick<StoredAccount, 'sealed_settings'>

const owner = ({ account }: Pick<Bound, 'account'>) => `provider account ${account}`

const purpose = ({ account, provider: provider_account, mode, merchant_id, settings }: Bound) =>
  JSON.stringify([account, provider_account, mode, merchant_id, inOrder(settings)])

// The database keeps them in an order of its own.
const inOrder = (settings: Bound['settings']) =>
  Object.keys(settings)
    .toSorted()
    .map(name => [name, settings[name]])

// Each time with a key of its own.
export function sealSettings(
  masterKeys: MasterKeys,
  bound: Bound,
  secrets: Readonly<Record<string, string>>,
): Sealed {
  const dataKey = newDataKey()
  return {
    ...wrapKey(masterKeys, owner(bound), dataKey),
    sealed_settings: sealSecret(dataKey, purpose(bound), JSON.stringify(secrets)),
  }
}

// The secrets alone; what is none stands beside them.
export const openSettings = (masterKeys: MasterKeys, account: Bound & Sealed): Record<string, string> =>
  JSON.parse(
    openSecret(unwrapKey(masterKeys, owner(account), account), purpose(account), account.sealed_settings),
  ) as Record<string, string>

// The same key wrapped by the newest master key; the secrets stay as they are.
export const rewrapped = (masterKeys: MasterKeys, account: Bound & WrappedKey): WrappedKey =>
  wrapKey(masterKeys, owner(account), unwrapKey(masterKeys, owner(account), account))
