import { readChannelStatus, type WayStatus } from '../../../actions/channels/status.ts'
import { type WaitingAttempts, waitingAttempts } from '../../../actions/channels/waitingAttempts.ts'
import type { Config } from '../../../config.ts'
import { candidatesFor } from '../../../core/channel/choose.ts'
import { readSettings } from '../../../core/merchant/settings.ts'
import { urlOf } from '../../../core/thisMachine.ts'
import type { Account } from '../../../runtime/channels/accounts.ts'
import { channelFaults } from '../../../runtime/settingFaults.ts'
import type { Db } from '../../../store/db.ts'
import { liveMerchants, type Merchant, merchantsWithSettings } from '../../../store/merchants/merchants.ts'
import type { MasterKeys } from '../../../store/merchants/vault.ts'
import { waitingLine } from '../../channel/businessText.ts'
import { openAll } from '../../channel/desk.ts'
import { type Check, failed, fine, warning } from '../check.ts'

const named = 5

type Choosy = Pick<Merchant, 'merchant_id' | 'settings'>

// Accounts that cannot be opened, merchants who can take no real money although others can, and names that nobody has.
// Settings of the environment that are wrong have lines of their own.
export async function checkChannels(
  db: Db,
  config: Config,
  masterKeys: MasterKeys | undefined,
): Promise<Check[]> {
  const isRight = (await channelFaults(config.channelSettings)).length === 0
  const readable = isRight ? config : { ...config, channelSettings: {} }
  const channels = await openAll({ config: readable, db, masterKeys, clock: () => new Date() })
  const accounts = channels.accounts()
  return [
    ...checkOpened(accounts),
    ...checkCallbacks(accounts, config),
    ...checkAnswers(await readChannelStatus(db, new Date())),
    ...checkWaiting(await waitingAttempts(db, channels)),
    checkLiveWays(accounts, await liveMerchants(db)),
    ...(isRight ? checkNames(accounts, config.TOLLGATE_CHANNELS, await merchantsWithSettings(db)) : []),
  ]
}

const checkOpened = (accounts: readonly Account[]): Check[] =>
  accounts
    .filter(({ fault, isDisabled }) => fault && !isDisabled)
    .map(({ account, fault }) =>
      failed(
        'accounts',
        `${account} cannot be opened: ${fault}`,
        `Put it right (tollgate channel set ${account} NAME=VALUE), or disable it: nobody can pay by it.`,
      ),
    )

// Such an account works, but its provider never calls back: the address is left out of its orders.
function checkCallbacks(accounts: readonly Account[], { TOLLGATE_BASE_URL, HOST, PORT }: Config): Check[] {
  const baseUrl = TOLLGATE_BASE_URL ?? urlOf(HOST, PORT)
  const without = accounts.filter(({ opened, isDisabled }) => opened?.wantsHttpsCallbacks && !isDisabled)
  if (without.length === 0 || baseUrl.startsWith('https:')) return []
  return [
    warning(
      'callbacks',
      `${some(without.map(({ account }) => account))} gets no callbacks: the provider takes https addresses only, and ours is ${baseUrl}`,
      'Set TOLLGATE_BASE_URL to the https address of the gateway, or turn callbacks off: payments are polled.',
    ),
  ]
}

// Credentials that the provider refuses, and accounts whose calls are not answered, with its last words. Several ways of an
// account have the same cause.
function checkAnswers(ways: readonly WayStatus[]): Check[] {
  const bad = ways.filter(({ is_refused, standing }) => is_refused || standing === 'down')
  const accounts = new Map(
    bad.toSorted((a, b) => Number(a.is_refused) - Number(b.is_refused)).map(one => [one.account, one]),
  )
  return [...accounts.values()].map(({ account, is_refused, last_error }) =>
    is_refused
      ? failed(
          'accounts',
          `the provider refuses the credentials of ${account}: ${last_error}`,
          `Ask it again with tollgate channel test ${account}; then set the credentials right.`,
        )
      : warning(
          'accounts',
          `${account} is not answering${last_error ? `: ${last_error}` : ''}`,
          'See tollgate channel status. Open attempts are asked about until the provider answers.',
        ),
  )
}

const checkWaiting = (waiting: readonly WaitingAttempts[]): Check[] =>
  waiting.map(one =>
    warning(
      'accounts',
      waitingLine(one),
      `Set ${one.account} up as it was, with the settings of the gateway; tollgate task list has the attempts.`,
    ),
  )

function checkLiveWays(accounts: readonly Account[], merchants: readonly Merchant[]): Check {
  if (!accounts.some(({ mode, isDisabled }) => mode === 'live' && !isDisabled))
    return fine('live ways', 'there is no live account: only test payments can be paid (docs/going-live.md)')
  const without = merchants.filter(one => !hasLiveWay(accounts, one)).map(({ merchant_id }) => merchant_id)
  if (without.length === 0) return fine('live ways', 'every merchant has a way to take real money')
  return warning(
    'live ways',
    `real money cannot be paid to ${some(without)}: no live account serves what they have chosen`,
    'Add an account (tollgate channel add), or look at their settings ways, channels and currencies.',
  )
}

function hasLiveWay(accounts: readonly Account[], { merchant_id, settings: words }: Merchant): boolean {
  const { channels, ways, currencies } = readSettings(words)
  const asked = { merchant_id, mode: 'live', channels, ways, preferred: [] } as const
  return currencies.some(currency => candidatesFor(accounts, { ...asked, currency }).length > 0)
}

// What is misspelled does nothing, silently.
function checkNames(
  accounts: readonly Account[],
  preferred: readonly string[],
  merchants: readonly Choosy[],
) {
  const known = new Set(accounts.flatMap(({ account, channel }) => [account, channel]))
  const strange = (words: readonly string[]) => words.filter(word => !known.has(word))
  const ways = new Set(accounts.flatMap(one => one.ways.map(({ payment_method }) => payment_method)))
  const faults = [
    ...strange(preferred).map(word => `TOLLGATE_CHANNELS has ${word}`),
    ...merchants.flatMap(({ merchant_id, settings: words }) => {
      const settings = readSettings(words)
      return [
        ...strange(settings.channels).map(word => `channels of ${merchant_id} has ${word}`),
        ...settings.ways.filter(way => !ways.has(way)).map(way => `ways of ${merchant_id} has ${way}`),
      ]
    }),
  ]
  if (faults.length === 0) return []
  return [
    warning(
      'channels',
      `names that no account and no way has: ${some(faults)}`,
      'Correct them, or add the account.',
    ),
  ]
}

const some = (words: readonly string[]) =>
  words.slice(0, named).join(', ') + (words.length > named ? ` and ${words.length - named} more` : '')
