import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '../../core/access/audit.ts'
import { accountChangeEntry } from '../../core/access/auditEntries.ts'
import { digestCredentials, identityScope, scopeOf } from '../../core/provider/accountIdentity.ts'
import type { SettingChange } from '../../core/provider/accountSettings.ts'
import type { ProviderAccount } from '../../core/provider/provider.ts'
import { newBusinessId } from '../../runtime/ids.ts'
import { openDeclared, providerCalled, settingsOfStored } from '../../runtime/providers/accounts.ts'
import type { Db, Tx } from '../../store/db.ts'
import {
  changingAccounts,
  findAccount,
  saveAccount,
  type StoredAccount,
} from '../../store/providers/accounts.ts'
import { addBusiness, listBusinesses } from '../../store/providers/businesses.ts'
import { auditedDb } from '../access/audit.ts'
import { type AccountSetup, type Faulty, prepareAccount, type Prepared } from './addAccount.ts'
import { type BusinessCredentials, mergeInto, openAttemptsOf } from './confirmBusiness.ts'

// `stored`: what the change replaces; nothing if all settings stay as they are. `formerDigest`: of the stored credentials.
// Undefined if the new ones are the same.
type PreparedChange = Prepared & {
  stored: Partial<Prepared['sealed']>
  credentials: BusinessCredentials
  formerDigest?: string
}

// Prepares an account with changed settings. Its attempts are polled under its name, so it must stay in its environment at
// the provider: another environment does not have their orders and would report them as absent. Only an operator can say
// whether new credentials belong to the same business.
export function prepareChange(
  setup: AccountSetup,
  row: StoredAccount,
  changes: readonly SettingChange[],
): PreparedChange | Faulty {
  const provider = providerCalled(setup, row.provider)
  const before = settingsOfStored(row, setup)
  const prepared = prepareAccount(setup, row, before, changes)
  if (prepared.faults) return prepared
  const [former, now] = [formerScopes(setup, row, before), scopesOf(row, prepared.opened)]
  const other = former && now.findIndex((scope, at) => scope !== former[at])
  if (other !== undefined && other >= 0)
    return {
      faults: [
        `These are settings of another account at the provider (${now[other]} instead of ${former?.[other]}), ` +
          'which does not know the payments that are under way. Add it as a separate account, and disable this one.',
      ],
    }
  const digest = digestCredentials(row.account, provider, prepared.values)
  const formerDigest = digestCredentials(row.account, provider, before)
  const scope = identityScope(row.provider, prepared.opened)
  return {
    ...prepared,
    stored: isDeepStrictEqual(prepared.values, before) ? {} : prepared.sealed,
    credentials: { account: row.account, credentialsDigest: digest, scope },
    ...(formerDigest !== digest && { formerDigest }),
  }
}

// The provider's environment, and the scope of its references there.
const scopesOf = ({ provider }: StoredAccount, opened: ProviderAccount) => [
  identityScope(provider, opened),
  opened.account,
]

function formerScopes(
  setup: AccountSetup,
  row: StoredAccount,
  before: Record<string, string>,
): string[] | undefined {
  try {
    return scopesOf(row, openDeclared(row, before, setup))
  } catch {
    return undefined // the former settings were wrong
  }
}

// The number of open attempts that continue only if the new credentials belong to the same business. Undefined if no answer
// is needed: the credentials did not change, or the account had them before.
export async function attemptsInQuestion(
  db: Db,
  { credentials, formerDigest }: Pick<PreparedChange, 'credentials' | 'formerDigest'>,
): Promise<number | undefined> {
  if (formerDigest === undefined) return undefined
  const { account, credentialsDigest: digest, scope } = credentials
  const rows = await listBusinesses(db)
  if (rows.some(row => row.account === account && row.credentials_digest === digest)) return undefined
  const open = (await openAttemptsOf(db, account)).filter(
    ({ account_identity }) => account_identity !== null && scopeOf(account_identity) === scope,
  )
  return open.reduce((sum, { attempts }) => sum + attempts, 0)
}

// `isSameBusiness`: the operator's answer. If false, the new credentials belong to another business until it is confirmed.
export type NewCredentials = Pick<PreparedChange, 'credentials' | 'formerDigest'> & {
  isSameBusiness: boolean
}

// In one commit with the credentials, so that no node opens them without their business.
async function saveBusiness(
  tx: Tx,
  { credentials, formerDigest, isSameBusiness }: NewCredentials,
  now: Date,
) {
  if (formerDigest === undefined) return
  const { account } = credentials
  await addBusiness(tx, { account, credentialsDigest: formerDigest, business: newBusinessId() }, now)
  await addBusiness(tx, { ...credentials, business: newBusinessId() }, now)
  if (!isSameBusiness) return
  const former = (await listBusinesses(tx)).find(
    row => row.account === account && row.credentials_digest === formerDigest,
  )
  if (former) await mergeInto(tx, credentials, former.business, now)
}

type SavedAccount = 'saved' | 'changed_meanwhile'
type Changed = Partial<Pick<StoredAccount, 'label' | 'disabled_at'> & Prepared['sealed']>

// `row` is what the change is based on: a concurrent change is not overwritten. If a commit was cut off, the repeated
// transaction finds it done; another change may have the same millisecond.
export const saveAccountChange = (
  db: Db,
  row: StoredAccount,
  changed: Changed,
  now: Date,
  newCredentials?: NewCredentials,
): Promise<SavedAccount> => {
  let runs = 0
  return changingAccounts(db, async tx => {
    const isRerun = ++runs > 1
    const stored = await findAccount(tx, row.account)
    if (isRerun && stored && stored.version > row.version && stored.updated_at.getTime() === now.getTime())
      return 'saved' // by this call
    if (stored?.version !== row.version) return 'changed_meanwhile'
    await saveAccount(tx, row.account, { ...stored, ...changed }, now)
    if (newCredentials) await saveBusiness(tx, newCredentials, now)
    return 'saved'
  })
}

// `by` is the name of the user, for the mail to the owners of the merchant whose account it is.
export type AccountChanger = { actor: Actor; by: string }

// Also records the change. Another name sends no mail.
export function changeAccount(
  db: Db,
  { actor, by }: AccountChanger,
  row: StoredAccount,
  changed: Changed,
  now: Date,
  newCredentials?: NewCredentials,
): Promise<SavedAccount> {
  const entryOf = (result: SavedAccount) =>
    result === 'saved' ? accountChangeEntry(row, changed) : undefined
  const alert = movesMoney(row, changed) ? { change: 'payout' as const, by } : undefined
  return saveAccountChange(auditedDb(db, actor, now, entryOf, alert), row, changed, now, newCredentials)
}

// Whether a merchant's money may go elsewhere: other settings, or the account takes payments or no longer does.
const movesMoney = (row: StoredAccount, changed: Changed) =>
  changed.sealed_settings !== undefined ||
  (changed.disabled_at !== undefined && (changed.disabled_at === null) !== (row.disabled_at === null))
