import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { readBytes } from '../../core/backup/byteReader.ts'
import { BackupFault, damaged } from '../../core/backup/fault.ts'

// An encrypted backup: a first line, a salt, then chunks, each sealed by AES-256-GCM with a key that scrypt derives from the
// passphrase and the salt. The nonce of a chunk is its number and whether it is the last one. So a chunk that is changed,
// removed, repeated or moved does not open, and a file that is cut off between two chunks has no last one.
export const encryptedMark = Buffer.from('tollgate encrypted backup 1\n')
const saltBytes = 16
const chunkBytes = 64 * 1024
const tagBytes = 16
const scryptCost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } // 32 MB for a moment
export const leastPassphraseLength = 12

const deriveKey = (passphrase: string, salt: Buffer) =>
  new Promise<Buffer>((resolve, reject) =>
    scrypt(passphrase, salt, 32, scryptCost, (error, key) => (error ? reject(error) : resolve(key))),
  )

function nonce(number: number, isLast: boolean): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeBigUInt64BE(BigInt(number), 3)
  bytes[11] = isLast ? 1 : 0
  return bytes
}

export async function* encrypt(source: AsyncIterable<Buffer>, passphrase: string): AsyncGenerator<Buffer> {
  const head = Buffer.concat([encryptedMark, randomBytes(saltBytes)])
  const key = await deriveKey(passphrase, head.subarray(encryptedMark.length))
  yield head
  const reader = readBytes(source)
  for (let number = 0, isLast = false; !isLast; number++) {
    const chunk = await reader.takeUpTo(chunkBytes)
    isLast = await reader.isAtEnd()
    const cipher = createCipheriv('aes-256-gcm', key, nonce(number, isLast)).setAAD(head)
    yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()])
  }
}

// `source` begins with the mark.
export async function* decrypt(source: AsyncIterable<Buffer>, passphrase: string): AsyncGenerator<Buffer> {
  const reader = readBytes(source)
  const head = await reader.take(encryptedMark.length + saltBytes)
  const key = await deriveKey(passphrase, head.subarray(encryptedMark.length))
  for (let number = 0, isLast = false; !isLast; number++) {
    const sealed = await reader.takeUpTo(chunkBytes + tagBytes)
    isLast = await reader.isAtEnd()
    yield openChunk({ key, head, number, isLast }, sealed)
  }
}

type Place = { key: Buffer; head: Buffer; number: number; isLast: boolean }

function openChunk({ key, head, number, isLast }: Place, sealed: Buffer): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce(number, isLast), { authTagLength: tagBytes })
      .setAAD(head)
      .setAuthTag(sealed.subarray(-tagBytes))
    return Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()])
  } catch (error) {
    if (number > 0) throw damaged('a part was changed or is missing', error)
    throw new BackupFault(
      'The passphrase is not the one of this backup, or the backup is damaged: nothing of it was used.',
      { cause: error },
    )
  }
}
