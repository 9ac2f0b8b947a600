import { hash } from 'node:crypto'
import { digestCredentials } from '../../core/provider/accountIdentity.ts'
import type { Provider, ProviderAccount, ProviderSettings } from '../../core/provider/provider.ts'
import type { AccountOnOffer } from '../../core/provider/selectAccounts.ts'
import { cleanError } from '../../core/text.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import type { StoredAccount } from '../../store/providers/accounts.ts'
import { openSettings } from '../../store/providers/sealedSettings.ts'
import type { GuardedAccount } from './guard.ts'
import { type AccountTools, openAccount } from './openAccount.ts'

// An account as this node has it: opened, or with the fault that prevents it. If changed settings cannot be opened, the
// account stays open with its former ones, so that its attempts are polled; new payments are not sent to it.
export type OpenedAccount = AccountOnOffer & {
  label: string | null
  disabled_at: Date | null
  settingsHash?: string // of the settings that it was opened with
  credentialsDigest?: string // of the credentials that it was opened with, see core/provider/accountIdentity.ts
  opened?: ProviderAccount
  guarded?: GuardedAccount
}

export type Opening = {
  providers: ReadonlyMap<string, Provider>
  tools: AccountTools
  masterKeys?: MasterKeys
  guard(account: string, providerAccount: ProviderAccount): GuardedAccount
}

// An account whose settings are in the environment. It has the name of its provider.
export function environmentAccount(
  provider: string,
  values: ProviderSettings,
  opening: Opening,
): OpenedAccount {
  const code = providerCalled(opening, provider)
  const opened = openAccount(provider, code, values, opening.tools)
  const credentialsDigest = digestCredentials(provider, code, values)
  return { ...accountOf(provider, opened, opening.guard(provider, opened)), credentialsDigest }
}

export const accountOf = (
  account: string,
  opened: ProviderAccount,
  guarded: GuardedAccount,
): OpenedAccount => ({
  account,
  provider: account,
  mode: opened.mode,
  merchant_id: null,
  isStored: false,
  isDisabled: false,
  disabled_at: null,
  label: null,
  methods: opened.methods,
  opened,
  guarded,
})

// A fault of one account does not affect other accounts, so it is returned, not thrown.
export function storedAccount(row: StoredAccount, opening: Opening, before?: OpenedAccount): OpenedAccount {
  const { account, provider, mode, merchant_id, label, disabled_at } = row
  const isDisabled = disabled_at !== null
  const facts = { account, provider, mode, merchant_id, label, disabled_at, isStored: true, isDisabled }
  try {
    const opened = openStored(row, opening, before)
    return { ...facts, methods: opened.opened.methods, ...opened }
  } catch (error) {
    const former = before && openedBefore(before)
    return { ...facts, methods: before?.methods ?? [], ...former, fault: cleanError(error, maxFault) }
  }
}

const maxFault = 500

const openedBefore = ({ opened, guarded, settingsHash, credentialsDigest }: OpenedAccount) => ({
  opened,
  guarded,
  settingsHash,
  credentialsDigest,
})

// An account with unchanged settings is not opened again, so its count of calls under way continues.
function openStored(row: StoredAccount, opening: Opening, before?: OpenedAccount) {
  const values = settingsOfStored(row, opening)
  const settingsHash = hash('sha256', JSON.stringify(values, Object.keys(values).toSorted()), 'hex')
  if (before?.opened && before.guarded && before.settingsHash === settingsHash)
    return { ...openedBefore(before), opened: before.opened }
  const opened = openDeclared(row, values, opening)
  const credentialsDigest = digestCredentials(row.account, providerCalled(opening, row.provider), values)
  const guarded = { ...opening.guard(row.account, opened), ownedBy: row.merchant_id }
  return { opened, guarded, settingsHash, credentialsDigest }
}

export function settingsOfStored(row: StoredAccount, { masterKeys }: Pick<Opening, 'masterKeys'>) {
  if (!masterKeys) throw new Error('There is no master key to decrypt its secrets.')
  return { ...row.settings, ...secretsOf(row, masterKeys) }
}

function secretsOf(row: StoredAccount, masterKeys: MasterKeys): Record<string, string> {
  try {
    return openSettings(masterKeys, row)
  } catch (error) {
    const { message } = error as Error
    if (message.includes('master key')) throw error
    throw new Error(
      'Its secrets do not open: they were sealed for another account, or its row was changed.',
      { cause: error },
    )
  }
}

// An account that was declared for tests must not take live payments, and vice versa.
export function openDeclared(
  { account, provider, mode }: Pick<StoredAccount, 'account' | 'provider' | 'mode'>,
  values: ProviderSettings,
  opening: Pick<Opening, 'providers' | 'tools'>,
): ProviderAccount {
  const opened = openAccount(account, providerCalled(opening, provider), values, opening.tools)
  if (opened.mode === mode) return opened
  throw new Error(`It is declared as a ${mode} account, but these are settings of a ${opened.mode} account.`)
}

export function providerCalled({ providers }: Pick<Opening, 'providers'>, provider: string): Provider {
  const found = providers.get(provider)
  if (found) return found
  throw new Error(
    `There is no provider ${provider} in this version; there are ${[...providers.keys()].join(', ')}.`,
  )
}

// Identifies an account in its webhook address: some providers refuse addresses that contain their name. It is not secret,
// and depends on the account's name only.
export const webhookIdOf = (account: string) => hash('sha256', `webhook of ${account}`, 'hex').slice(0, 24)
