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

// An account at a provider, as this node has it: opened, or with the reason why it is not. One whose new settings do not
// open keeps the line that it had, so that its attempts are asked about; it is not offered.
export type OpenedAccount = AccountOnOffer & {
  label: string | null
  disabled_at: Date | null
  settingsHash?: string // of those that it was opened with
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

// One whose settings stand in the environment, called as its provider is.
export function environmentAccount(
  provider: string,
  given: ProviderSettings,
  opening: Opening,
): OpenedAccount {
  const opened = openAccount(provider, providerCalled(opening, provider), given, opening.tools)
  const digest = digestCredentials(provider, providerCalled(opening, provider), given)
  return { ...accountOf(provider, opened, opening.guard(provider, opened)), credentialsDigest: digest }
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

// Each for itself: what cannot be opened is this account's trouble alone.
export function storedAccount(row: StoredAccount, opening: Opening, before?: OpenedAccount): OpenedAccount {
  const { account, provider, mode, merchant_id, label, disabled_at } = row
  const facts = { account, provider, mode, merchant_id, label, disabled_at }
  const known = { ...facts, isStored: true, isDisabled: disabled_at !== null }
  try {
    const opened = openStored(row, opening, before)
    const { methods } = opened.opened
    return { ...known, methods, ...opened }
  } catch (error) {
    const kept = before && openedBefore(before)
    return { ...known, methods: before?.methods ?? [], ...kept, fault: cleanError(error, maxFault) }
  }
}

const maxFault = 500

const openedBefore = ({
  opened,
  guarded: account,
  settingsHash,
  credentialsDigest: digest,
}: OpenedAccount) => ({
  opened,
  guarded: account,
  settingsHash,
  credentialsDigest: digest,
})

// With the same settings as before it stays as it is, and what is under way counts on.
function openStored(row: StoredAccount, opening: Opening, before?: OpenedAccount) {
  const given = settingsOfStored(row, opening)
  const settingsHash = hash('sha256', JSON.stringify(given, Object.keys(given).toSorted()), 'hex')
  if (before?.opened && before.guarded && before.settingsHash === settingsHash)
    return { ...openedBefore(before), opened: before.opened }
  const opened = openDeclared(row, given, opening)
  const digest = digestCredentials(row.account, providerCalled(opening, row.provider), given)
  return { opened, guarded: opening.guard(row.account, opened), settingsHash, credentialsDigest: digest }
}

export function settingsOfStored(row: StoredAccount, { masterKeys }: Pick<Opening, 'masterKeys'>) {
  if (!masterKeys) throw new Error('There is no master key to open its secrets with.')
  return { ...row.settings, ...secretsOf(row, masterKeys) }
}

function secretsOf(row: StoredAccount, masterKeys: MasterKeys): Record<string, string> {
  try {
    return openSettings(masterKeys, row)
  } catch (error) {
    const { message } = error as Error
    if (message.includes('master key')) throw error
    throw new Error('Its secrets do not open: they are not those of this account as it stands here.', {
      cause: error,
    })
  }
}

// Real money never goes through an account that was declared for tests, nor the other way round.
export function openDeclared(
  { account, provider, mode }: Pick<StoredAccount, 'account' | 'provider' | 'mode'>,
  given: ProviderSettings,
  opening: Pick<Opening, 'providers' | 'tools'>,
): ProviderAccount {
  const opened = openAccount(account, providerCalled(opening, provider), given, opening.tools)
  if (opened.mode === mode) return opened
  throw new Error(`It is declared as a ${mode} account, but these are settings of a ${opened.mode} account.`)
}

export function providerCalled({ providers }: Pick<Opening, 'providers'>, provider: string): Provider {
  const kind = providers.get(provider)
  if (kind) return kind
  throw new Error(
    `There is no provider ${provider} in this version; there are ${[...providers.keys()].join(', ')}.`,
  )
}
