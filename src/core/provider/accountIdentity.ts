import { hash } from 'node:crypto'
import type { Mode } from '../mode.ts'
import type { ProviderAccount, Provider, ProviderSettings } from './provider.ts'

// The account at a provider that an attempt belongs to: the provider, its environment and the business there. The identity
// contains no credential, so it survives the rotation of a key.
export type AttemptAccount = { provider_account: string; mode: Mode | null; account_identity: string | null }

// An account as it is opened on this node. New attempts get `identity`; `identities` are all that its attempts may have.
// Null: identities are not stored, and attempts match by the account's name.
export type OpenedIdentity = {
  account: string
  mode: Mode
  identity: string | null
  identities: readonly string[]
}

// The business that the credentials of an account belong to, as stored. `business` is a random id. `first_business` is the id
// from before an operator confirmed that the credentials belong to a known business.
export type BusinessRow = {
  account: string
  credentials_digest: string
  first_business: string
  business: string
}

// An identity without its business: the provider and its environment, by default the mode.
export const identityScope = (
  provider: string,
  { environment, mode }: Pick<ProviderAccount, 'environment' | 'mode'>,
) => `${provider} ${environment ?? mode}`

export const identityName = (scope: string, business: string) => `${scope} ${business}`

export const scopeOf = (identity: string) => identity.slice(0, identity.lastIndexOf(' '))
export const businessOf = (identity: string) => identity.split(' ').at(-1) ?? ''

// If the database does not know the credentials, the business is unknown, and only attempts without identity match.
export function openedIdentity(
  account: string,
  provider: string,
  opened: Pick<ProviderAccount, 'environment' | 'mode'>,
  credentialsDigest: string,
  rows: readonly BusinessRow[],
): OpenedIdentity {
  const accountRows = rows.filter(row => row.account === account)
  const own = accountRows.find(row => row.credentials_digest === credentialsDigest)
  const { mode } = opened
  if (!own) return { account, mode, identity: null, identities: [] }
  const scope = identityScope(provider, opened)
  const businesses = accountRows
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
  { provider_account, mode, account_identity }: AttemptAccount,
  opened: OpenedIdentity,
): boolean =>
  provider_account === opened.account &&
  (mode === null || mode === opened.mode) &&
  (account_identity === null || opened.identities.includes(account_identity))

// Why this node does not poll an attempt, for a task.
export function whyNotSetUp(attempt: AttemptAccount, opened: OpenedIdentity | undefined): string {
  const { provider_account: account } = attempt
  if (!opened) return `The account ${account} is not set up.`
  if (attempt.mode !== null && attempt.mode !== opened.mode)
    return `The account ${account} takes ${opened.mode} payments now, and this is a ${attempt.mode} payment.`
  const business = businessOf(attempt.account_identity ?? '')
  if (opened.identities.map(businessOf).includes(business))
    return `The account ${account} is in another environment of the provider now.`
  return (
    `The account ${account} has other credentials now. If they are of the same business: ` +
    `tollgate provider confirm ${account}.`
  )
}

export const notSetUpWords = (
  attempt: AttemptAccount,
  opened: OpenedIdentity | undefined,
  attempts: number,
) =>
  `${whyNotSetUp(attempt, opened)} ${attempts === 1 ? '1 attempt waits' : `${attempts} attempts wait`} for it.`

// Distinguishes credentials without storing them. Settings that all businesses share are left out.
export function digestCredentials(account: string, provider: Provider, values: ProviderSettings) {
  const names =
    provider.businessSettings ?? provider.settings.filter(({ isSecret }) => isSecret).map(({ name }) => name)
  const relevant = names.toSorted().map(name => [name, values[name] ?? ''])
  return hash('sha256', JSON.stringify(['credentials', account, relevant]), 'hex')
}
