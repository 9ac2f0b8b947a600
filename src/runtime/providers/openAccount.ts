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

// What is lent to every account. The token is its own, and that of its settings: with others it would reach for others.
export type AccountTools = Pick<ProviderTools, 'clock' | 'egress'> & {
  tokenOf(account: string, given: ProviderSettings): SharedToken
}

const maxWords = 300
const leastSecret = 4 // what is shorter would take letters out of every word

// Opens no connection. What is wrong is thrown, by the name of the setting, and holds no secret.
export function openAccount(
  account: string,
  kind: Provider,
  given: ProviderSettings,
  { clock, egress, tokenOf }: AccountTools,
): ProviderAccount {
  try {
    const tools = { clock, egress: egressOf(given, egress), token: tokenOf(account, given) }
    return mustSayItsTerms(account, kind.open(withUsual(kind, given), tools))
  } catch (error) {
    throw new AccountFault(faultWords(error).map(words => withoutSecrets(kind, given, words)))
  }
}

export class AccountFault extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('; '))
    this.faults = faults
  }
}

const faultWords = (error: unknown): string[] =>
  error instanceof AggregateError ? error.errors.flatMap(faultWords) : [cleanError(error, maxWords)]

// A provider or its provider may repeat what it was given.
export function withoutSecrets({ settings }: Provider, given: ProviderSettings, words: string): string {
  const plain = new Set(settings.filter(one => !one.isSecret).map(({ name }) => name))
  const secrets = Object.entries(given).flatMap(([name, value = '']) =>
    value.length >= leastSecret && !plain.has(name) ? [value] : [],
  )
  return secrets.reduce((text, secret) => text.replaceAll(secret, '…'), words)
}

// What was never chosen follows a default that changes later.
function withUsual({ settings }: Provider, given: ProviderSettings): ProviderSettings {
  const missing = settings.filter(({ name, usual }) => !given[name] && usual === undefined)
  if (missing.length > 0)
    throw new AggregateError(missing.map(({ name, words }) => new Error(`${name}: is missing. ${words}`)))
  return Object.fromEntries(settings.map(({ name, usual }) => [name, given[name] || usual]))
}

function egressOf({ egress_address, egress_proxy }: ProviderSettings, usual: Egress): Egress {
  if (egress_address && isIP(egress_address) === 0)
    throw new Error('egress_address: must be an IP address of this machine')
  if (egress_proxy && !readProxy(egress_proxy))
    throw new Error('egress_proxy: must be a URL such as http://proxy:3128')
  return { address: egress_address || usual.address, proxy: egress_proxy || usual.proxy }
}

// A provider module that lacks one of these terms is refused, because a guess could charge a customer twice.
function mustSayItsTerms(name: string, providerAccount: ProviderAccount): ProviderAccount {
  const {
    mode,
    account,
    environment = mode,
    startIsIdempotent,
    visibleWithinMs,
    failureMayReverseForMs,
    methods,
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
      `The provider ${name} must state its account, startIsIdempotent, visibleWithinMs, failureMayReverseForMs and the lifetimeMs of each way.`,
    )
  return providerAccount
}
