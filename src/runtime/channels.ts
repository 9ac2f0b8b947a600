import { readdirSync } from 'node:fs'
import {
  type AttemptAccount,
  type BusinessRow,
  isSameAccount,
  type OpenedIdentity,
  openedIdentity,
} from '../core/channel/accountIdentity.ts'
import { egressSettings } from '../core/channel/accountSettings.ts'
import type { Channel, ChannelKind, ChannelSettings } from '../core/channel/channel.ts'
import type { Db } from '../store/db.ts'
import type { MasterKeys } from '../store/merchants/vault.ts'
import { type Account, accountOf, environmentAccount, type Opening } from './channels/accounts.ts'
import { readBusinesses } from './channels/businesses.ts'
import { type GuardedChannel, guardChannel } from './channels/guard.ts'
import { type Health, type Keepers, noKeeper } from './channels/keeper.ts'
import { createOffers, type Offer, type Offered } from './channels/offers.ts'
import type { AccountTools } from './channels/openAccount.ts'
import { createStoredAccounts, type OnFault } from './channels/storedAccounts.ts'
import { webhookIdOf } from './channels/webhookId.ts'
import type { Timer } from './deadline.ts'
import { databaseDeadline } from './inTime.ts'

export type { Offer, Offered }

// Accounts at providers by their names. One whose settings stand in the environment is called as its channel is.
export type Channels = {
  readonly names: readonly string[] // of all that can be asked, those that are disabled among them
  offers(payment: Offered): readonly Offer[] // the very same each time: nobody changes them
  find(name: string): GuardedChannel | undefined
  // The account that an attempt belongs to; undefined also where its name has another mode or business behind it now.
  findFor(attempt: AttemptAccount): GuardedChannel | undefined
  identityOf(name: string): string | null // for new attempts; null where identities are not kept
  opened(): readonly OpenedIdentity[]
  findByWebhook(webhook_id: string): { name: string; channel: GuardedChannel } | undefined
}

// Those of a gateway, which hear of changes.
export type OpenChannels = Channels & {
  accounts(): readonly Account[]
  look(): Promise<void> // whether any account has changed; those that have are opened anew
}

export type ChannelsOptions = {
  env: ChannelSettings
  tools: AccountTools
  stored?: { db: Db; masterKeys?: MasterKeys }
  isReadOnly?: boolean // a command: it stores nothing about accounts that it opens
  preferred?: readonly string[] // accounts and channels, as the operator would have them
  keepers?: Pick<Keepers, 'of' | 'keeperOf'> // who stands before each account, and says how it does
  folder?: URL
  onFault?: OnFault
}

const ourFolder = new URL('../channels/', import.meta.url)
const noKeepers: Pick<Keepers, 'of' | 'keeperOf'> = { of: () => 'good', keeperOf: () => noKeeper }

// The folder is the registry: every file in it is a channel, named as the file is. What has no settings is not offered.
// A wrong setting in the environment is thrown; one that is stored is its account's fault alone.
export async function openChannels(options: ChannelsOptions): Promise<OpenChannels> {
  const { env, tools, stored, preferred = [], keepers = noKeepers, onFault = () => {} } = options
  const guard: Opening['guard'] = (account, channel) =>
    guardChannel(channel, undefined, keepers.keeperOf(account, channel))
  const kinds = await channelKinds(options.folder)
  const opening: Opening = { kinds, tools, guard, masterKeys: stored?.masterKeys }
  const ofEnvironment = [...kinds].flatMap(([name, kind]) => {
    const given = settingsOf(name, kind, env)
    return given ? [environmentAccount(name, given, opening)] : []
  })
  const ofDatabase = stored && createStoredAccounts(stored.db, opening, onFault)
  const accounts = () => [...ofEnvironment, ...(ofDatabase?.accounts() ?? [])]
  // The businesses are read after the accounts: whoever stores new credentials stores their business in the same commit.
  async function read() {
    const { isReadOnly = false } = options
    const inTime = stored?.db.until(databaseDeadline())
    const businesses =
      inTime && (await readBusinesses(inTime, accounts(), { isReadOnly, now: tools.clock() }))
    return viewOf(accounts(), preferred, keepers, businesses)
  }
  await ofDatabase?.look()
  let view = await read()
  let isStale = false
  return {
    get names() {
      return view.names
    },
    find: name => view.find(name),
    findFor: attempt => view.findFor(attempt),
    identityOf: name => view.identityOf(name),
    opened: () => view.opened(),
    findByWebhook: webhook_id => view.findByWebhook(webhook_id),
    offers: payment => view.offers(payment),
    accounts,
    async look() {
      if (await ofDatabase?.look()) isStale = true
      if (!isStale) return
      view = await read()
      isStale = false
    },
  }
}

// These and no others, for as long as they last.
export function channelsOf(
  channels: ReadonlyMap<string, Channel>,
  timer?: Timer,
  keepers: Pick<Keepers, 'of' | 'keeperOf'> = noKeepers,
): Channels {
  const accounts = [...channels].map(([name, channel]) =>
    accountOf(name, channel, guardChannel(channel, timer, keepers.keeperOf(name, channel))),
  )
  return viewOf(accounts, [], keepers)
}

function viewOf(
  accounts: readonly Account[],
  preferred: readonly string[],
  health: Health,
  businesses: readonly BusinessRow[] = [],
): Channels {
  const lines = new Map(accounts.flatMap(({ account, line }) => (line ? [[account, line]] : [])))
  const webhooks = new Map([...lines].map(([name, channel]) => [webhookIdOf(name), { name, channel }]))
  const opened = new Map(
    accounts.flatMap(({ account, channel, opened: one, credentialsDigest = '' }) =>
      one ? [[account, openedIdentity(account, channel, one, credentialsDigest, businesses)]] : [],
    ),
  )
  return {
    names: [...lines.keys()],
    find: name => lines.get(name),
    findFor(attempt) {
      const identity = opened.get(attempt.channel)
      return identity && isSameAccount(attempt, identity) ? lines.get(attempt.channel) : undefined
    },
    identityOf: name => opened.get(name)?.identity ?? null,
    opened: () => [...opened.values()],
    findByWebhook: webhook_id => webhooks.get(webhook_id),
    offers: createOffers(accounts, preferred, health),
  }
}

export async function channelKinds(folder = ourFolder): Promise<Map<string, ChannelKind>> {
  const kinds = new Map<string, ChannelKind>()
  for (const file of readdirSync(folder).sort()) {
    const name = /^(\w+)\.[jt]s$/.exec(file)?.[1]
    if (name)
      kinds.set(name, ((await import(new URL(file, folder).href)) as { default: ChannelKind }).default)
  }
  return kinds
}

// As they stand in the environment; undefined where one is missing.
export function settingsOf(
  name: string,
  { settings }: ChannelKind,
  env: ChannelSettings,
): ChannelSettings | undefined {
  const given = [...settings, ...egressSettings].map(
    one => [one.name, env[`${name}_${one.name}`.toUpperCase()] || one.usual] as const,
  )
  return given.every(([, value]) => value !== undefined) ? Object.fromEntries(given) : undefined
}
