import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

// Secrets at rest: each merchant and each account at a provider has a data key that seals its secrets, and the master key
// wraps the data keys. What a sealed text is for is bound into it, so a row that is copied elsewhere does not open.
export type MasterKeys = {
  newest(): Buffer
  byId(id: string): Buffer | undefined
}

export type WrappedKey = { master_key_id: string; wrapped_key: Buffer }

// Reckoned once for each key: a merchant that is read again costs no hash.
const ids = new WeakMap<Buffer, string>()

export function masterKeyId(key: Buffer): string {
  const known = ids.get(key)
  if (known) return known
  const id = createHmac('sha256', key).update('tollgate master key id').digest('hex').slice(0, 16)
  ids.set(key, id)
  return id
}

export const newDataKey = () => randomBytes(32)

// The owner is a merchant, by its id, or an account, by words that no id has.
export function wrapKey(masterKeys: MasterKeys, owner: string, dataKey: Buffer): WrappedKey {
  const master = masterKeys.newest()
  return { master_key_id: masterKeyId(master), wrapped_key: seal(master, owner, dataKey) }
}

export function unwrapKey(masterKeys: MasterKeys, owner: string, wrapped: WrappedKey): Buffer {
  const master = masterKeys.byId(wrapped.master_key_id)
  if (!master)
    throw new Error(
      `The secrets of ${owner} are sealed with master key ${wrapped.master_key_id}, which this ` +
        'Tollgate does not have. Give it in TOLLGATE_MASTER_KEY, or use the data folder that holds it.',
    )
  return unseal(master, owner, wrapped.wrapped_key)
}

export const sealSecret = (dataKey: Buffer, purpose: string, secret: string) =>
  seal(dataKey, purpose, Buffer.from(secret, 'utf8'))

export const openSecret = (dataKey: Buffer, purpose: string, sealed: Buffer) =>
  unseal(dataKey, purpose, sealed).toString('utf8')

const ivBytes = 12
const tagBytes = 16

function seal(key: Buffer, purpose: string, plain: Buffer): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(purpose))
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body])
}

function unseal(key: Buffer, purpose: string, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  })
    .setAAD(Buffer.from(purpose))
    .setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(ivBytes + tagBytes)), decipher.final()])
}
