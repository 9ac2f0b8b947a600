import { hash } from 'node:crypto'
import { digestCredentials } from '../../core/channel/accountIdentity.ts'
import type { Channel, ChannelKind, ChannelSettings } from '../../core/channel/channel.ts'
import type { Serving } from '../../core/channel/choose.ts'
import { cleanError } from '../../core/stranger.ts'
import type { StoredAccount } from '../../store/channels/accounts.ts'
import { openSettings } from '../../store/channels/sealedSettings.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import type { GuardedChannel } from './guard.ts'
import { type AccountTools, openAccount } from './openAccount.ts'

// An account at a provider, as this node has it: opened, or with the reason why it is not. One whose new settings do not
// open keeps the line that it had, so that its attempts are asked about; it is not offered.
export type Account = Serving & {
  label: string | null
  disabled_at: Date | null
  settingsHash?: string // of those that it was opened with
  credentialsDigest?: string // of the credentials that it was opened with, see core/channel/accountIdentity.ts
  opened?: Channel
  line?: GuardedChannel
}

export type Opening = {
  kinds: ReadonlyMap<string, ChannelKind>
  tools: AccountTools
  masterKeys?: MasterKeys
  guard(account: string, channel: Channel): GuardedChannel
}

// One whose settings stand in the environment, called as its channel is.
export function environmentAccount(channel: string, given: ChannelSettings, opening: Opening): Account {
  const opened = openAccount(channel, kindOf(opening, channel), given, opening.tools)
  const digest = digestCredentials(channel, kindOf(opening, channel), given)
  return { ...accountOf(channel, opened, opening.guard(channel, opened)), credentialsDigest: digest }
}

export const accountOf = (account: string, opened: Channel, line: GuardedChannel): Account => ({
  account,
  channel: account,
  mode: opened.mode,
  merchant_id: null,
  isStored: false,
  isDisabled: false,
  disabled_at: null,
  label: null,
  ways: opened.ways,
  opened,
  line,
})

// Each for itself: what cannot be opened is this account's trouble alone.
export function storedAccount(row: StoredAccount, opening: Opening, before?: Account): Account {
  const { account, channel, mode, merchant_id, label, disabled_at } = row
  const facts = { account, channel, mode, merchant_id, label, disabled_at }
  const known = { ...facts, isStored: true, isDisabled: disabled_at !== null }
  try {
    const opened = openStored(row, opening, before)
    const { ways } = opened.opened
    return { ...known, ways, ...opened }
  } catch (error) {
    const kept = before && openedBefore(before)
    return { ...known, ways: before?.ways ?? [], ...kept, fault: cleanError(error, maxFault) }
  }
}

const maxFault = 500

const openedBefore = ({ opened, line, settingsHash, credentialsDigest: digest }: Account) => ({
  opened,
  line,
  settingsHash,
  credentialsDigest: digest,
})

// With the same settings as before it stays as it is, and what is under way counts on.
function openStored(row: StoredAccount, opening: Opening, before?: Account) {
  const given = settingsOfStored(row, opening)
  const settingsHash = hash('sha256', JSON.stringify(given, Object.keys(given).toSorted()), 'hex')
  if (before?.opened && before.line && before.settingsHash === settingsHash)
    return { ...openedBefore(before), opened: before.opened }
  const opened = openDeclared(row, given, opening)
  const digest = digestCredentials(row.account, kindOf(opening, row.channel), given)
  return { opened, line: opening.guard(row.account, opened), settingsHash, credentialsDigest: digest }
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
  { account, channel, mode }: Pick<StoredAccount, 'account' | 'channel' | 'mode'>,
  given: ChannelSettings,
  opening: Pick<Opening, 'kinds' | 'tools'>,
): Channel {
  const opened = openAccount(account, kindOf(opening, channel), given, opening.tools)
  if (opened.mode === mode) return opened
  throw new Error(`It is declared as a ${mode} account, but these are settings of a ${opened.mode} account.`)
}

export function kindOf({ kinds }: Pick<Opening, 'kinds'>, channel: string): ChannelKind {
  const kind = kinds.get(channel)
  if (kind) return kind
  throw new Error(
    `There is no channel ${channel} in this version; there are ${[...kinds.keys()].join(', ')}.`,
  )
}
