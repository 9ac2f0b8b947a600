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

// The facts of an account that are authenticated with its secrets. So an attacker with write access to the database can
// neither make a test account live, nor give it to another merchant, nor have the secrets sent to another address.
type Bound = Pick<StoredAccount, 'account' | 'provider' | 'mode' | 'merchant_id' | 'settings'>
type Sealed = WrappedKey & Pick<StoredAccount, 'sealed_settings'>

const owner = ({ account }: Pick<Bound, 'account'>) => `provider account ${account}`

const purpose = ({ account, provider, mode, merchant_id, settings }: Bound) =>
  JSON.stringify([account, provider, mode, merchant_id, inOrder(settings)])

// jsonb does not preserve the order of keys.
const inOrder = (settings: Bound['settings']) =>
  Object.keys(settings)
    .toSorted()
    .map(name => [name, settings[name]])

// With a new data key each time.
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

// Returns the secret settings only.
export const openSettings = (masterKeys: MasterKeys, account: Bound & Sealed): Record<string, string> =>
  JSON.parse(
    openSecret(unwrapKey(masterKeys, owner(account), account), purpose(account), account.sealed_settings),
  ) as Record<string, string>

// Wraps the data key with the newest master key. The sealed secrets do not change.
export const rewrapped = (masterKeys: MasterKeys, account: Bound & WrappedKey): WrappedKey =>
  wrapKey(masterKeys, owner(account), unwrapKey(masterKeys, owner(account), account))
