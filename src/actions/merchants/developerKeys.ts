import { hash } from 'node:crypto'
import type { Actor, AuditEntry } from '../../core/access/audit.ts'
import {
  ipnPasswordEntry,
  ipnSecretEntry,
  ipnSecretRevokedEntry,
  keyEntry,
  keyRevokedEntry,
} from '../../core/access/auditEntries.ts'
import type { Mode } from '../../core/mode.ts'
import type { Db, Tx } from '../../store/db.ts'
import {
  expireIpnSecrets,
  expireMerchantKey,
  type IpnSecret,
  isLive,
  listIpnSecrets,
  listMerchantKeys,
  type MerchantKey,
} from '../../store/merchants/credentials.ts'
import { readMerchantSettings } from '../../core/merchant/settings.ts'
import { findMerchant, lockMerchant, sealedIpnPassword } from '../../store/merchants/merchants.ts'
import { audited, auditedDb } from '../access/audit.ts'
import { mailOwners } from '../access/mailOwners.ts'
import { type MasterKeys, rotateIpnPassword, rotateIpnSecret, rotateKey } from './credentials.ts'

// The keys and signing secrets of a merchant in one mode, without their secret parts. Newest first.
export type DeveloperKeys = {
  keys: readonly Pick<MerchantKey, 'merchant_key' | 'created_at' | 'expires_at' | 'last_used_at'>[]
  secrets: readonly Pick<IpnSecret, 'secret_id' | 'created_at' | 'expires_at' | 'last_used_at'>[]
}

const maxListed = 20 // an expired key stays in the table

export async function developerKeys(tx: Tx, merchant_id: string, mode: Mode): Promise<DeveloperKeys> {
  const [keys, secrets] = await Promise.all([
    listMerchantKeys(tx, merchant_id),
    listIpnSecrets(tx, merchant_id),
  ])
  const newest = <Row extends { mode: Mode }>(rows: readonly Row[]) =>
    rows
      .filter(row => row.mode === mode)
      .toReversed()
      .slice(0, maxListed)
  return {
    keys: newest(keys).map(({ merchant_key, created_at, expires_at, last_used_at }) => ({
      merchant_key,
      created_at,
      expires_at,
      last_used_at,
    })),
    secrets: newest(secrets).map(({ secret_id, created_at, expires_at, last_used_at }) => ({
      secret_id,
      created_at,
      expires_at,
      last_used_at,
    })),
  }
}

// The password of notifications in style basic, in one mode. `seen` identifies it on a page without saying it.
export type BasicPassword = { seen: string; isMerchantId: boolean }

// Undefined in another style.
export async function basicPassword(
  tx: Tx,
  merchant_id: string,
  mode: Mode,
): Promise<BasicPassword | undefined> {
  const merchant = await findMerchant(tx, merchant_id)
  if (!merchant || readMerchantSettings(merchant.settings).ipn_style !== 'basic') return undefined
  const sealed = sealedIpnPassword(merchant, mode)
  return { seen: sealed ? hash('sha256', sealed, 'hex').slice(0, 16) : 'none', isMerchantId: !sealed }
}

// Who changes keys. `seen` is the newest key or secret on the page that has the button, or for a key that is revoked when it
// ends by that page: a second submission, or one of another window, changes nothing.
export type KeyChange = {
  merchant_id: string
  mode: Mode
  seen: string
  overlapMs: number
  actor: Actor
  by: string // the name of the user, for the mails to the owners
}

// Issues a new key. The older ones work until the overlap ends. Undefined if the keys have changed meanwhile.
export function rotateKeyAsSeen(db: Db, masterKeys: MasterKeys, change: KeyChange, now: Date) {
  const { merchant_id, mode, seen, overlapMs } = change
  const unchanged = async (tx: Tx) =>
    ((await developerKeys(tx, merchant_id, mode)).keys[0]?.merchant_key ?? '') === seen
  type Rotated = Awaited<ReturnType<typeof rotateKey>>
  const guarded = withGuard(db, change, unchanged, now, (done: Rotated) => done && keyEntry(done))
  return rotateKey(guarded, masterKeys, merchant_id, mode, overlapMs, now)
}

// Issues a new signing secret. The previous one signs, too, until the overlap ends.
export function rotateSecretAsSeen(db: Db, masterKeys: MasterKeys, change: KeyChange, now: Date) {
  const { merchant_id, mode, seen, overlapMs } = change
  const unchanged = async (tx: Tx) =>
    ((await developerKeys(tx, merchant_id, mode)).secrets[0]?.secret_id ?? '') === seen
  type Rotated = Awaited<ReturnType<typeof rotateIpnSecret>>
  const guarded = withGuard(db, change, unchanged, now, (done: Rotated) => done && ipnSecretEntry(done))
  return rotateIpnSecret(guarded, masterKeys, merchant_id, mode, overlapMs, now)
}

// Makes a new password for notifications in style basic. It replaces the old one at once: HTTP Basic sends a single one.
export function rotatePasswordAsSeen(
  db: Db,
  masterKeys: MasterKeys,
  change: Omit<KeyChange, 'overlapMs'>,
  now: Date,
) {
  const { merchant_id, mode, seen } = change
  const unchanged = async (tx: Tx) => (await basicPassword(tx, merchant_id, mode))?.seen === seen
  type Rotated = Awaited<ReturnType<typeof rotateIpnPassword>>
  const entryOf = (done: Rotated) => done && ipnPasswordEntry(done, false)
  return rotateIpnPassword(withGuard(db, change, unchanged, now, entryOf), masterKeys, merchant_id, mode)
}

// Each transaction of the returned Db first checks under the merchant's lock that nothing has changed. It writes the entry
// of its result and the mails to the owners in the same commit.
function withGuard(
  db: Db,
  { merchant_id, actor, by }: Omit<KeyChange, 'overlapMs'>,
  unchanged: (tx: Tx) => Promise<boolean>,
  now: Date,
  entryOf: (result: never) => AuditEntry | undefined,
): Db {
  const guarded: Db = {
    ...db,
    transaction: <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
      db.transaction(async tx => {
        await lockMerchant(tx, merchant_id)
        if (!(await unchanged(tx))) return undefined as T
        return work(tx)
      }),
  }
  return auditedDb(guarded, actor, now, entryOf, { change: 'keys', by })
}

// When a key or a secret ends. The time of a request does not say whether another one has revoked it meanwhile: of two at
// once, the first to get the lock may be the later one.
export const seenEnd = ({ expires_at }: Pick<MerchantKey, 'expires_at'>) =>
  String(expires_at?.getTime() ?? 'never')

// Ends a key now. False if it has ended before, its end has changed, or it is not a key of this merchant and mode.
export const revokeKey = (
  db: Db,
  { merchant_id, mode, seen, actor, by }: Omit<KeyChange, 'overlapMs'>,
  merchant_key: string,
  now: Date,
): Promise<boolean> =>
  audited(db, actor, now, async (tx, record) => {
    await lockMerchant(tx, merchant_id)
    const keys = await listMerchantKeys(tx, merchant_id)
    if (!keys.some(key => key.merchant_key === merchant_key && seenEnd(key) === seen)) return false
    const ended = await expireMerchantKey(tx, merchant_id, mode, merchant_key, now)
    if (ended === 0) return false
    await record(keyRevokedEntry(merchant_id, mode, merchant_key))
    await mailOwners(tx, merchant_id, { change: 'keys', by }, now)
    return true
  })

// Ends a signing secret that was replaced. False if it has ended before, is the newest, which always signs, or is not one of
// this merchant and mode.
export const revokeIpnSecret = (
  db: Db,
  { merchant_id, mode, seen, actor, by }: Omit<KeyChange, 'overlapMs'>,
  secret_id: string,
  now: Date,
): Promise<boolean> =>
  audited(db, actor, now, async (tx, record) => {
    await lockMerchant(tx, merchant_id)
    const [, ...replaced] = (await listIpnSecrets(tx, merchant_id))
      .filter(secret => secret.mode === mode)
      .toReversed()
    const secret = replaced.find(one => one.secret_id === secret_id)
    if (!secret || !isLive(secret, now) || seenEnd(secret) !== seen) return false
    await expireIpnSecrets(tx, merchant_id, mode, [secret_id], now)
    await record(ipnSecretRevokedEntry(merchant_id, mode, secret_id))
    await mailOwners(tx, merchant_id, { change: 'keys', by }, now)
    return true
  })
