import { ConfigError } from '../../config.ts'
import type { Channel, ChannelSettings } from '../../core/channel/channel.ts'
import { urlOf } from '../../core/thisMachine.ts'
import { type Account, kindOf, settingsOfStored } from '../../runtime/channels/accounts.ts'
import type { AccountTools } from '../../runtime/channels/openAccount.ts'
import { webhookIdOf } from '../../runtime/channels/webhookId.ts'
import { channelKinds, type OpenChannels, openChannels, settingsOf } from '../../runtime/channels.ts'
import { channelFaults } from '../../runtime/settingFaults.ts'
import { accountTools } from '../../start/channels.ts'
import { findAccount, type StoredAccount } from '../../store/channels/accounts.ts'
import type { Db } from '../../store/db.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import type { Opened } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { baseUrlOf } from './baseUrl.ts'

type Config = Opened['config']

type Records = { config: Config; clock(): Date; db: Db; masterKeys?: MasterKeys }

// A token that the gateway has would speak well of settings that get none: a command makes its own, each time.
export const checkTools = ({ config, db, clock }: Records): AccountTools => ({
  ...accountTools(config, { db, clock }),
  tokenOf: () => async (make, signal) => (await make(signal)).token,
})

// What it takes to open accounts from a command.
export const deskOf = async (opened: Opened) => ({
  kinds: await channelKinds(),
  tools: checkTools(opened),
  masterKeys: opened.masterKeys,
})

export function mustBeChannel(kinds: ReadonlyMap<string, unknown>, channel: string) {
  if (!kinds.has(channel))
    throw new CannotDo(
      'not_found',
      `There is no channel ${channel}; there are ${[...kinds.keys()].join(', ')}.`,
    )
}

// The sandbox belongs to the gateway, which makes its key at each start.
const environmentOf = (config: Config): ChannelSettings => ({
  ...config.channelSettings,
  ...(config.TOLLGATE_SANDBOX && {
    SANDBOX_URL: urlOf(config.HOST, config.PORT),
    SANDBOX_KEY: 'of the gateway',
  }),
})

// Every account as a gateway with these settings would have it.
export async function openAll(records: Records): Promise<OpenChannels> {
  const { config, db, masterKeys } = records
  const faults = await channelFaults(config.channelSettings)
  if (faults.length > 0) throw new ConfigError(faults)
  return openChannels({
    env: environmentOf(config),
    tools: checkTools(records),
    stored: { db, masterKeys },
    isReadOnly: true,
    preferred: config.TOLLGATE_CHANNELS,
  })
}

// With its kind and what it was opened with.
export async function openOne(opened: Opened, name: string) {
  const kinds = await channelKinds()
  const account = (await openAll(opened)).accounts().find(one => one.account === name)
  if (!account) throw noAccount(name)
  const kind = kindOf({ kinds }, account.channel)
  return { account, kind, given: await givenOf(opened, account, kind) }
}

async function givenOf(
  opened: Opened,
  { account, isStored, fault }: Account,
  kind: Parameters<typeof settingsOf>[1],
) {
  if (fault) throw new CannotDo('refused', `${account} cannot be opened: ${fault}`)
  if (!isStored) return settingsOf(account, kind, environmentOf(opened.config)) ?? {}
  return settingsOfStored(await storedOf(opened.db, account), opened)
}

export async function storedOf(db: Db, name: string): Promise<StoredAccount> {
  const row = await findAccount(db, name)
  if (row) return row
  const isEnvironments = (await channelKinds()).has(name)
  throw isEnvironments
    ? new CannotDo(
        'refused',
        `The settings of ${name} stand in the environment of the gateway: change them there.`,
      )
    : noAccount(name)
}

export const noAccount = (name: string) =>
  new CannotDo('not_found', `No account is called ${name}: tollgate channel list shows them all.`)

// Where the provider of an account knocks; null where it has no use for an address.
export const webhookAddress = (
  config: Config,
  account: string,
  channel: Pick<Channel, 'hear'> | undefined,
): string | null => (channel?.hear ? `${baseUrlOf(config)}/callbacks/account/${webhookIdOf(account)}` : null)
