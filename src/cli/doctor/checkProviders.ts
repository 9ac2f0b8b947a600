import { readProviderStatus, type MethodStatus } from '../../actions/providers/health.ts'
import { type WaitingAttempts, waitingAttempts } from '../../actions/providers/waitingAttempts.ts'
import type { Config } from '../../config.ts'
import { readMerchantSettings } from '../../core/merchant/settings.ts'
import { methodCandidates } from '../../core/provider/selectAccounts.ts'
import type { OpenedAccount } from '../../runtime/providers/accounts.ts'
import { providerSettingFaults } from '../../runtime/settingFaults.ts'
import type { Db } from '../../store/db.ts'
import { liveMerchants, type Merchant, merchantsWithSettings } from '../../store/merchants/merchants.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { baseUrlOf } from '../baseUrl.ts'
import { openAccounts } from '../provider/accountSetup.ts'
import { waitingText } from '../provider/accountText.ts'
import { allChecks, type Check, checkFailed, checkOk, checkWarning, firstFew } from './check.ts'

// If the provider settings of the environment are invalid, only stored accounts are checked. The faults are reported
// with the settings.
export async function checkProviders(
  db: Db,
  config: Config,
  masterKeys: MasterKeys | undefined,
): Promise<Check[]> {
  const areValid = (await providerSettingFaults(config.providerSettings)).length === 0
  const readable = areValid ? config : { ...config, providerSettings: {} }
  const providerAccounts = await openAccounts({ config: readable, db, masterKeys, clock: () => new Date() })
  const accounts = providerAccounts.accounts()
  return allChecks(
    checkOpened(accounts),
    checkCallbacks(accounts, config),
    checkHealth(await readProviderStatus(db, new Date())),
    checkWaiting(await waitingAttempts(db, providerAccounts)),
    checkLiveMethods(accounts, await liveMerchants(db)),
    areValid && checkNames(accounts, config.TOLLGATE_PROVIDERS, await merchantsWithSettings(db)),
  )
}

const checkOpened = (accounts: readonly OpenedAccount[]): Check[] =>
  accounts
    .filter(({ fault, isDisabled }) => fault && !isDisabled)
    .map(({ account, fault }) =>
      checkFailed(
        'accounts',
        `${account} cannot be opened: ${fault}`,
        `Correct it (tollgate provider set ${account} NAME=VALUE), or disable it: customers cannot pay with it.`,
      ),
    )

// Such an account works without callbacks: its orders have no callback address.
function checkCallbacks(accounts: readonly OpenedAccount[], config: Config): Check | undefined {
  const baseUrl = baseUrlOf(config)
  const without = accounts.filter(({ opened, isDisabled }) => opened?.requiresHttpsCallbacks && !isDisabled)
  if (without.length === 0 || baseUrl.startsWith('https:')) return undefined
  return checkWarning(
    'callbacks',
    `${firstFew(without.map(({ account }) => account))} gets no callbacks: the provider sends them to https only, and the base URL is ${baseUrl}`,
    'Set TOLLGATE_BASE_URL to the https address of the gateway, or turn callbacks off: payments are polled anyway.',
  )
}

// One result for each account: its payment methods share the cause. Refused credentials outrank a missing answer.
function checkHealth(methods: readonly MethodStatus[]): Check[] {
  const bad = methods.filter(({ is_refused, health }) => is_refused || health === 'down')
  const accounts = new Map(
    bad.toSorted((a, b) => Number(a.is_refused) - Number(b.is_refused)).map(one => [one.account, one]),
  )
  return [...accounts.values()].map(({ account, is_refused, last_error }) =>
    is_refused
      ? checkFailed(
          'accounts',
          `the provider refuses the credentials of ${account}: ${last_error}`,
          `Check them with tollgate provider test ${account}, then correct them with tollgate provider set ${account} NAME=-.`,
        )
      : checkWarning(
          'accounts',
          `${account} is not answering${last_error ? `: ${last_error}` : ''}`,
          'See tollgate provider status. Open attempts are polled until the provider answers.',
        ),
  )
}

const checkWaiting = (waiting: readonly WaitingAttempts[]): Check[] =>
  waiting.map(one =>
    checkWarning(
      'accounts',
      waitingText(one),
      `Set ${one.account} up as before, with the settings of the gateway; tollgate task list shows the attempts.`,
    ),
  )

function checkLiveMethods(accounts: readonly OpenedAccount[], merchants: readonly Merchant[]): Check {
  if (!accounts.some(({ mode, isDisabled }) => mode === 'live' && !isDisabled))
    return checkOk(
      'live methods',
      'there is no live account: only test payments can be paid (docs/going-live.md)',
    )
  const without = merchants.filter(one => !hasLiveMethod(accounts, one)).map(({ merchant_id }) => merchant_id)
  if (without.length === 0) return checkOk('live methods', 'every merchant has a live payment method')
  return checkWarning(
    'live methods',
    `${firstFew(without)} cannot take live payments: no live account fits their settings`,
    'Add an account (tollgate provider add), or change their settings payment_methods, providers and currencies.',
  )
}

function hasLiveMethod(
  accounts: readonly OpenedAccount[],
  { merchant_id, settings: stored }: Merchant,
): boolean {
  const { providers, payment_methods, currencies } = readMerchantSettings(stored)
  const query = { merchant_id, mode: 'live', providers, methods: payment_methods, preferred: [] } as const
  return currencies.some(currency => methodCandidates(accounts, { ...query, currency }).length > 0)
}

// A misspelled name in a setting has no effect and no error.
function checkNames(
  accounts: readonly OpenedAccount[],
  preferred: readonly string[],
  merchants: readonly Pick<Merchant, 'merchant_id' | 'settings'>[],
): Check | undefined {
  const known = new Set(accounts.flatMap(({ account, provider }) => [account, provider]))
  const unknown = (names: readonly string[]) => names.filter(name => !known.has(name))
  const methods = new Set(accounts.flatMap(one => one.methods.map(({ payment_method }) => payment_method)))
  const faults = [
    ...unknown(preferred).map(name => `TOLLGATE_PROVIDERS has ${name}`),
    ...merchants.flatMap(({ merchant_id, settings: stored }) => {
      const settings = readMerchantSettings(stored)
      return [
        ...unknown(settings.providers).map(name => `providers of ${merchant_id} has ${name}`),
        ...settings.payment_methods
          .filter(method => !methods.has(method))
          .map(method => `payment_methods of ${merchant_id} has ${method}`),
      ]
    }),
  ]
  if (faults.length === 0) return undefined
  const todo = 'Correct them, or add the account.'
  return checkWarning('providers', `unknown accounts or payment methods: ${firstFew(faults)}`, todo)
}
