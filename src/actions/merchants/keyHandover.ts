import type { Actor, AuditEntry } from '../../core/access/audit.ts'
import { formTokenOf, isFormToken } from '../../core/formOrigin.ts'
import type { Mode } from '../../core/mode.ts'
import { isPlainText } from '../../core/text.ts'
import { newUserLinkId } from '../../runtime/ids.ts'
import type { Db, Tx } from '../../store/db.ts'
import {
  addKeyHandover,
  findKeyHandover,
  type KeyHandover,
  lockKeyHandover,
  saveHandoverOpened,
  saveHandoversRevoked,
} from '../../store/merchants/keyHandovers.ts'
import { findMerchant, lockMerchant, type Merchant } from '../../store/merchants/merchants.ts'
import { type MasterKeys, openSecret, sealSecret, unwrapKey } from '../../store/merchants/vault.ts'
import { audited } from '../access/audit.ts'
import { mailOwners } from '../access/mailOwners.ts'
import { rotateIpnSecret, rotateKey } from './credentials.ts'
import type { Credentials } from './onboard.ts'

// Keys that wait for a merchant behind a link. They are shown once, to the first person who opens it, and the link ends after three
// days. The address is computed from the id, so that a copy of the database opens nothing.

const validMs = 3 * 24 * 3_600_000

export type HandedKeys = Record<Mode, Credentials>
type HandoverKey = Pick<KeyHandover, 'merchant_id' | 'handover_id'>

const purposeOf = ({ merchant_id, handover_id }: HandoverKey) => `${merchant_id}/handover/${handover_id}`

type Adding = { tx: Tx; masterKeys: MasterKeys; merchant: Merchant; user_id: string; now: Date }

// Within the transaction that makes the keys. The merchant is locked.
export async function addHandover({ tx, masterKeys, merchant, user_id, now }: Adding, keys: HandedKeys) {
  const key = { merchant_id: merchant.merchant_id, handover_id: newUserLinkId() }
  const dataKey = unwrapKey(masterKeys, merchant.merchant_id, merchant)
  await saveHandoversRevoked(tx, merchant.merchant_id, now)
  await addKeyHandover(tx, {
    ...key,
    sealed_keys: sealSecret(dataKey, purposeOf(key), JSON.stringify(keys)),
    made_by: user_id,
    created_at: now,
    expires_at: new Date(now.getTime() + validMs),
  })
}

const secretOf = (formKey: Buffer, { merchant_id, handover_id }: HandoverKey) =>
  formTokenOf(formKey, ['key handover', merchant_id, handover_id])

export const handoverPath = (formKey: Buffer, key: HandoverKey) =>
  `/dashboard/keys/${key.merchant_id}/${key.handover_id}/${secretOf(formKey, key)}`

export type HandoverState = 'waiting' | 'opened' | 'expired' | 'revoked'

export function handoverState(
  { sealed_keys, opened_at, revoked_at, expires_at }: KeyHandover,
  now: Date,
): HandoverState {
  if (opened_at) return 'opened'
  if (revoked_at || !sealed_keys) return 'revoked'
  return expires_at <= now ? 'expired' : 'waiting'
}

type Asked = HandoverKey & { secret: string }

const isRightLink = (formKey: Buffer, asked: Asked) =>
  isPlainText(asked.merchant_id + asked.handover_id) && isFormToken(secretOf(formKey, asked), asked.secret)

// Changes nothing: programs that look at links in mails and chats must not use the link up.
export async function readHandover(db: Db, formKey: Buffer, asked: Asked, now: Date) {
  if (!isRightLink(formKey, asked)) return undefined
  const found = await findKeyHandover(db, asked.merchant_id, asked.handover_id)
  const merchant = found && (await findMerchant(db, asked.merchant_id))
  return found && merchant && { state: handoverState(found, now), name: merchant.name, at: found.opened_at }
}

type Opening = { db: Db; masterKeys: MasterKeys; formKey: Buffer; address: string; now: Date }

// The keys, once. Undefined if the link is wrong or was used.
export function openHandover(
  { db, masterKeys, formKey, address, now }: Opening,
  asked: Asked,
): Promise<{ name: string; merchant_id: string; keys: HandedKeys } | undefined> {
  if (!isRightLink(formKey, asked)) return Promise.resolve(undefined)
  const { merchant_id, handover_id } = asked
  const actor: Actor = { kind: 'token', id: 'key handover', address }
  return audited(db, actor, now, async (tx, record) => {
    const found = await lockKeyHandover(tx, merchant_id, handover_id)
    const merchant = await findMerchant(tx, merchant_id)
    if (!found?.sealed_keys || !merchant || handoverState(found, now) !== 'waiting') return undefined
    const dataKey = unwrapKey(masterKeys, merchant_id, merchant)
    const keys = JSON.parse(openSecret(dataKey, purposeOf(found), found.sealed_keys)) as HandedKeys
    await saveHandoverOpened(tx, merchant_id, handover_id, now)
    await record(handoverEntry('handover.open', found))
    await mailOwners(tx, merchant_id, { change: 'keys', by: merchant.name }, now)
    return { name: merchant.name, merchant_id, keys }
  })
}

const handoverEntry = (action: string, { merchant_id, handover_id }: HandoverKey): AuditEntry => ({
  merchant_id,
  action,
  subject: handover_id,
  before: null,
  after: null,
})

type Renewing = {
  db: Db
  masterKeys: MasterKeys
  actor: Actor
  user: { user_id: string; name: string }
  now: Date
}

// New keys and a new link in place of one that was not opened. The keys before them end now: nobody has seen them. `seen` is
// the link that the page showed, so that a form that is submitted twice makes one.
export const renewHandover = (
  { db, masterKeys, actor, user, now }: Renewing,
  { merchant_id, handover_id }: HandoverKey,
): Promise<'made' | 'changed' | undefined> =>
  audited(db, actor, now, async (tx, record) => {
    const merchant = await lockMerchant(tx, merchant_id)
    const found = merchant && (await lockKeyHandover(tx, merchant_id, handover_id))
    if (!merchant || !found) return undefined
    const state = handoverState(found, now)
    if (state === 'opened' || found.revoked_at) return 'changed'
    const inside: Db = { ...db, transaction: work => work(tx) }
    const keys = {
      test: await newCredentials(inside, masterKeys, merchant_id, 'test', now),
      live: await newCredentials(inside, masterKeys, merchant_id, 'live', now),
    }
    await addHandover({ tx, masterKeys, merchant, user_id: user.user_id, now }, keys)
    await record(handoverEntry('handover.renew', found))
    await mailOwners(tx, merchant_id, { change: 'keys', by: user.name }, now)
    return 'made'
  })

async function newCredentials(
  db: Db,
  masterKeys: MasterKeys,
  merchant_id: string,
  mode: Mode,
  now: Date,
): Promise<Credentials> {
  const key = await rotateKey(db, masterKeys, merchant_id, mode, 0, now)
  const secret = await rotateIpnSecret(db, masterKeys, merchant_id, mode, 0, now)
  if (!key || !secret) throw new Error('the merchant has no keys')
  return { merchant_key: key.merchant_key, secret_key: key.secret_key, ipn_secret: secret.ipn_secret }
}
