import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

// Envelope encryption of secrets at rest: each merchant and each provider account has a data key that seals its secrets,
// and the master key wraps the data keys. The purpose is authenticated data, so a secret that is copied to another row
// does not open.
export type MasterKeys = {
  newest(): Buffer
  byId(id: string): Buffer | undefined
  ids(): string[] // of all of them, for the list of nodes
}

export type WrappedKey = { master_key_id: string; wrapped_key: Buffer }

// Computed once for each key.
const ids = new WeakMap<Buffer, string>()

export function masterKeyId(key: Buffer): string {
  const known = ids.get(key)
  if (known) return known
  const id = createHmac('sha256', key).update('tollgate master key id').digest('hex').slice(0, 16)
  ids.set(key, id)
  return id
}

export const newDataKey = () => randomBytes(32)

// `owner` is a merchant's id, or a text for an account or the installation that cannot be an id.
export function wrapKey(masterKeys: MasterKeys, owner: string, dataKey: Buffer): WrappedKey {
  const master = masterKeys.newest()
  return { master_key_id: masterKeyId(master), wrapped_key: seal(master, owner, dataKey) }
}

export function unwrapKey(masterKeys: MasterKeys, owner: string, wrapped: WrappedKey): Buffer {
  const master = masterKeys.byId(wrapped.master_key_id)
  if (!master)
    throw new Error(
      `The secrets of ${owner} are sealed with master key ${wrapped.master_key_id}, which this ` +
        'Tollgate does not have. Set it in TOLLGATE_MASTER_KEY, or use the data folder that contains it.',
    )
  return unseal(master, owner, wrapped.wrapped_key)
}

// The same data key, wrapped with the newest master key; undefined if it cannot be opened.
export function rewrapKey(
  masterKeys: MasterKeys,
  owner: string,
  wrapped: WrappedKey,
): WrappedKey | undefined {
  try {
    return wrapKey(masterKeys, owner, unwrapKey(masterKeys, owner, wrapped))
  } catch {
    return undefined
  }
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
