import { isIP } from 'node:net'
import type {
  Egress,
  Provider,
  ProviderAccount,
  ProviderSettings,
  ProviderTools,
  SharedToken,
} from '../../core/provider/provider.ts'
import { readProxy } from '../../core/networkSettings.ts'
import { cleanError } from '../../core/text.ts'

// What every account gets. A token belongs to one account with certain settings.
export type AccountTools = Pick<ProviderTools, 'clock' | 'egress'> & {
  tokenOf(account: string, values: ProviderSettings): SharedToken
}

const maxWords = 300
const leastSecret = 4 // replacing a shorter one would garble the text

// Opens no connection. Throws faults by the names of the settings, without secrets.
export function openAccount(
  account: string,
  provider: Provider,
  values: ProviderSettings,
  { clock, egress, tokenOf }: AccountTools,
): ProviderAccount {
  try {
    const tools = { clock, egress: egressOf(values, egress), token: tokenOf(account, values) }
    return mustStateTerms(account, provider.open(withDefaults(provider, values), tools))
  } catch (error) {
    throw new AccountFault(faultsOfError(error).map(words => withoutSecrets(provider, values, words)))
  }
}

export class AccountFault extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('; '))
    this.faults = faults
  }
}

const faultsOfError = (error: unknown): string[] =>
  error instanceof AggregateError ? error.errors.flatMap(faultsOfError) : [cleanError(error, maxWords)]

// An error text may contain settings.
export function withoutSecrets({ settings }: Provider, values: ProviderSettings, words: string): string {
  const plain = new Set(settings.filter(one => !one.isSecret).map(({ name }) => name))
  const secrets = Object.entries(values).flatMap(([name, value = '']) =>
    value.length >= leastSecret && !plain.has(name) ? [value] : [],
  )
  return secrets.reduce((text, secret) => text.replaceAll(secret, '…'), words)
}

// Defaults are not stored, so accounts follow a default that changes.
function withDefaults({ settings }: Provider, values: ProviderSettings): ProviderSettings {
  const missing = settings.filter(({ name, usual }) => !values[name] && usual === undefined)
  if (missing.length > 0)
    throw new AggregateError(missing.map(({ name, words }) => new Error(`${name}: is missing. ${words}`)))
  return Object.fromEntries(settings.map(({ name, usual }) => [name, values[name] || usual]))
}

function egressOf({ egress_address, egress_proxy }: ProviderSettings, defaults: Egress): Egress {
  if (egress_address && isIP(egress_address) === 0)
    throw new Error('egress_address: must be an IP address of this machine')
  if (egress_proxy && !readProxy(egress_proxy))
    throw new Error('egress_proxy: must be a URL such as http://proxy:3128')
  return { address: egress_address || defaults.address, proxy: egress_proxy || defaults.proxy }
}

// A provider module that lacks one of these terms is refused, because a guess could charge a customer twice.
function mustStateTerms(name: string, providerAccount: ProviderAccount): ProviderAccount {
  const {
    mode,
    account,
    environment = mode,
    startIsIdempotent,
    visibleWithinMs,
    failureMayReverseForMs,
    methods,
    refunds,
  } = providerAccount
  const times = [visibleWithinMs, failureMayReverseForMs, ...methods.map(({ lifetimeMs }) => lifetimeMs)]
  if (
    !['test', 'live'].includes(mode) ||
    typeof account !== 'string' ||
    !/^[^\p{Cc}]{1,100}$/u.test(account) ||
    !/^[\w.-]{1,40}$/.test(environment) ||
    typeof startIsIdempotent !== 'boolean' ||
    !times.every(ms => ms >= 0)
  )
    throw new Error(
      `The provider ${name} must state its account, startIsIdempotent, visibleWithinMs, failureMayReverseForMs and the lifetimeMs of each payment method.`,
    )
  if (refunds && (typeof refunds.isIdempotent !== 'boolean' || typeof refunds.hasPartial !== 'boolean'))
    throw new Error(`The provider ${name} must state isIdempotent and hasPartial of its refunds.`)
  return providerAccount
}
