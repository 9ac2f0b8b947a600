import { hash } from 'node:crypto'
import type { Mode } from '../mode.ts'
import type { ProviderAccount, Provider, ProviderSettings } from './provider.ts'

// Which account at a provider an attempt belongs to: the provider, its environment and the business there. It never holds
// a credential, so rotating a key keeps it.
export type AttemptAccount = { provider_account: string; mode: Mode | null; account_identity: string | null }

// The account behind a name, as it is opened on this node. `identities` are all that its attempts may carry; new attempts
// get `identity`. Null: identities are not kept, and attempts go by the name alone.
export type OpenedIdentity = {
  account: string
  mode: Mode
  identity: string | null
  identities: readonly string[]
}

// What the database holds about the credentials of an account. `business` is a random id; `first_business` is the one that
// was given when the credentials were first seen, before a person confirmed that they are of a business known already.
export type BusinessRow = {
  account: string
  credentials_digest: string
  first_business: string
  business: string
}

// An environment without a name of its own is that of the mode.
const environmentOf = ({ environment, mode }: Pick<ProviderAccount, 'environment' | 'mode'>) =>
  environment ?? mode

// Identities without their business: the provider and its environment.
export const identityScope = (provider: string, opened: Pick<ProviderAccount, 'environment' | 'mode'>) =>
  `${provider} ${environmentOf(opened)}`

export const identityName = (scope: string, business: string) => `${scope} ${business}`

export const scopeOf = (identity: string) => identity.slice(0, identity.lastIndexOf(' '))
export const businessOf = (identity: string) => identity.split(' ').at(-1) ?? ''

// The business of credentials that are not in the database is unknown: then nothing matches but an attempt without
// identity.
export function openedIdentity(
  account: string,
  provider: string,
  opened: Pick<ProviderAccount, 'environment' | 'mode'>,
  credentialsDigest: string,
  rows: readonly BusinessRow[],
): OpenedIdentity {
  const ours = rows.filter(row => row.account === account)
  const own = ours.find(row => row.credentials_digest === credentialsDigest)
  const { mode } = opened
  if (!own) return { account, mode, identity: null, identities: [] }
  const scope = identityScope(provider, opened)
  const businesses = ours
    .filter(row => row.business === own.business)
    .flatMap(row => [row.business, row.first_business])
  return {
    account,
    mode,
    identity: identityName(scope, own.business),
    identities: [...new Set(businesses)].map(one => identityName(scope, one)),
  }
}

// An attempt without a mode or an identity matches by the account's name.
export const isSameAccount = (
  { provider_account: provider, mode, account_identity }: AttemptAccount,
  opened: OpenedIdentity,
): boolean =>
  provider === opened.account &&
  (mode === null || mode === opened.mode) &&
  (account_identity === null || opened.identities.includes(account_identity))

// Why an attempt is not asked about here, for a task.
export function whyNotSetUp(attempt: AttemptAccount, opened: OpenedIdentity | undefined): string {
  const { provider_account: provider } = attempt
  if (!opened) return `The account ${provider} is not set up.`
  if (attempt.mode !== null && attempt.mode !== opened.mode)
    return `The account ${provider} takes ${opened.mode} payments now, and this is a ${attempt.mode} payment.`
  const business = businessOf(attempt.account_identity ?? '')
  if (opened.identities.map(businessOf).includes(business))
    return `The account ${provider} is in another environment of the provider now.`
  return (
    `The account ${provider} has other credentials now. If they are of the same business: ` +
    `tollgate provider confirm ${provider}.`
  )
}

export function notSetUpWords(
  attempt: AttemptAccount,
  opened: OpenedIdentity | undefined,
  attempts: number,
): string {
  return `${whyNotSetUp(attempt, opened)} ${waitingWords(attempts)}`
}

export const waitingWords = (attempts: number) =>
  attempts === 1 ? '1 attempt waits for it.' : `${attempts} attempts wait for it.`

// Tells credentials from others without keeping them. Settings that every business shares do not count.
export function digestCredentials(account: string, kind: Provider, given: ProviderSettings): string {
  const names =
    kind.businessSettings ?? kind.settings.filter(({ isSecret }) => isSecret).map(({ name }) => name)
  const values = names.toSorted().map(name => [name, given[name] ?? ''])
  return hash('sha256', JSON.stringify(['credentials', account, values]), 'hex')
}
