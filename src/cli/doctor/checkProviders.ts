import { type MethodStatus, readProviderStatus } from '../../actions/providers/status.ts'
import { type WaitingAttempts, waitingAttempts } from '../../actions/providers/waitingAttempts.ts'
import type { Config } from '../../config.ts'
import { readMerchantSettings } from '../../core/merchant/settings.ts'
import { methodCandidates } from '../../core/provider/selectAccounts.ts'
import { listenUrl } from '../../core/networkSettings.ts'
import type { OpenedAccount } from '../../runtime/providers/accounts.ts'
import { providerSettingFaults } from '../../runtime/settingFaults.ts'
import type { Db } from '../../store/db.ts'
import { liveMerchants, type Merchant, merchantsWithSettings } from '../../store/merchants/merchants.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { openAll } from '../provider/accountSetup.ts'
import { waitingLine } from '../provider/businessText.ts'
import { type Check, failed, fine, warning } from './check.ts'

const named = 5

type Choosy = Pick<Merchant, 'merchant_id' | 'settings'>

// Accounts that cannot be opened, merchants who can take no real money although others can, and names that nobody has.
// Settings of the environment that are wrong have lines of their own.
export async function checkProviders(
  db: Db,
  config: Config,
  masterKeys: MasterKeys | undefined,
): Promise<Check[]> {
  const isRight = (await providerSettingFaults(config.providerSettings)).length === 0
  const readable = isRight ? config : { ...config, providerSettings: {} }
  const providerAccounts = await openAll({ config: readable, db, masterKeys, clock: () => new Date() })
  const accounts = providerAccounts.accounts()
  return [
    ...checkOpened(accounts),
    ...checkCallbacks(accounts, config),
    ...checkAnswers(await readProviderStatus(db, new Date())),
    ...checkWaiting(await waitingAttempts(db, providerAccounts)),
    checkLiveWays(accounts, await liveMerchants(db)),
    ...(isRight ? checkNames(accounts, config.TOLLGATE_PROVIDERS, await merchantsWithSettings(db)) : []),
  ]
}

const checkOpened = (accounts: readonly OpenedAccount[]): Check[] =>
  accounts
    .filter(({ fault, isDisabled }) => fault && !isDisabled)
    .map(({ account, fault }) =>
      failed(
        'accounts',
        `${account} cannot be opened: ${fault}`,
        `Put it right (tollgate provider set ${account} NAME=VALUE), or disable it: nobody can pay by it.`,
      ),
    )

// Such an account works, but its provider never calls back: the address is left out of its orders.
function checkCallbacks(
  accounts: readonly OpenedAccount[],
  { TOLLGATE_BASE_URL, HOST, PORT }: Config,
): Check[] {
  const baseUrl = TOLLGATE_BASE_URL ?? listenUrl(HOST, PORT)
  const without = accounts.filter(({ opened, isDisabled }) => opened?.requiresHttpsCallbacks && !isDisabled)
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
function checkAnswers(methods: readonly MethodStatus[]): Check[] {
  const bad = methods.filter(({ is_refused, health }) => is_refused || health === 'down')
  const accounts = new Map(
    bad.toSorted((a, b) => Number(a.is_refused) - Number(b.is_refused)).map(one => [one.account, one]),
  )
  return [...accounts.values()].map(({ account, is_refused, last_error }) =>
    is_refused
      ? failed(
          'accounts',
          `the provider refuses the credentials of ${account}: ${last_error}`,
          `Ask it again with tollgate provider test ${account}; then set the credentials right.`,
        )
      : warning(
          'accounts',
          `${account} is not answering${last_error ? `: ${last_error}` : ''}`,
          'See tollgate provider status. Open attempts are asked about until the provider answers.',
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

function checkLiveWays(accounts: readonly OpenedAccount[], merchants: readonly Merchant[]): Check {
  if (!accounts.some(({ mode, isDisabled }) => mode === 'live' && !isDisabled))
    return fine(
      'live methods',
      'there is no live account: only test payments can be paid (docs/going-live.md)',
    )
  const without = merchants.filter(one => !hasLiveWay(accounts, one)).map(({ merchant_id }) => merchant_id)
  if (without.length === 0) return fine('live methods', 'every merchant has a live payment method')
  return warning(
    'live methods',
    `real money cannot be paid to ${some(without)}: no live account serves what they have chosen`,
    'Add an account (tollgate provider add), or look at their settings payment_methods, providers and currencies.',
  )
}

function hasLiveWay(accounts: readonly OpenedAccount[], { merchant_id, settings: words }: Merchant): boolean {
  const { providers, payment_methods, currencies } = readMerchantSettings(words)
  const query = { merchant_id, mode: 'live', providers, methods: payment_methods, preferred: [] } as const
  return currencies.some(currency => methodCandidates(accounts, { ...query, currency }).length > 0)
}

// What is misspelled does nothing, silently.
function checkNames(
  accounts: readonly OpenedAccount[],
  preferred: readonly string[],
  merchants: readonly Choosy[],
) {
  const known = new Set(accounts.flatMap(({ account, provider }) => [account, provider]))
  const strange = (words: readonly string[]) => words.filter(word => !known.has(word))
  const methods = new Set(accounts.flatMap(one => one.methods.map(({ payment_method }) => payment_method)))
  const faults = [
    ...strange(preferred).map(word => `TOLLGATE_PROVIDERS has ${word}`),
    ...merchants.flatMap(({ merchant_id, settings: words }) => {
      const settings = readMerchantSettings(words)
      return [
        ...strange(settings.providers).map(word => `providers of ${merchant_id} has ${word}`),
        ...settings.payment_methods
          .filter(method => !methods.has(method))
          .map(method => `payment_methods of ${merchant_id} has ${method}`),
      ]
    }),
  ]
  if (faults.length === 0) return []
  return [
    warning(
      'providers',
      `names that no account and no payment method has: ${some(faults)}`,
      'Correct them, or add the account.',
    ),
  ]
}

const some = (words: readonly string[]) =>
  words.slice(0, named).join(', ') + (words.length > named ? ` and ${words.length - named} more` : '')
