import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../postgres/folder/folder.ts'
import { type MasterKeys, masterKeyId } from '../store/merchants/vault.ts'

export class MasterKeyError extends Error {}

// From the environment: a list, newest first, fixed while we run.
export function givenMasterKeys(keys: readonly Buffer[]): MasterKeys {
  return {
    newest: () => keys[0] as Buffer,
    byId: id => keys.find(key => masterKeyId(key) === id),
  }
}

// From a file that only we can read, one key a line, newest first. It is read again when a key is met that it did not
// hold before: another process may have rotated it. With a database in the same folder it is made when something is to
// be sealed for the first time. With one elsewhere it never is: the next node would make another.
export function masterKeysInFile(dataDir: string, isMade = true): MasterKeys {
  const file = keyFile(dataDir)
  let keys = existsSync(file) ? readKeyFile(file) : []
  return {
    newest() {
      if (!existsSync(file)) {
        if (!isMade) throw noMasterKey(file)
        createKeyFile(dataDir, file)
      }
      if (keys.length === 0) keys = readKeyFile(file)
      return keys[0] as Buffer
    },
    byId(id) {
      const isKnown = keys.some(key => masterKeyId(key) === id)
      // What we knew stays known: rows that were read before a rotation are still to be opened.
      if (!isKnown && existsSync(file)) keys = [...readKeyFile(file), ...keys]
      return keys.find(key => masterKeyId(key) === id)
    },
  }
}

const noMasterKey = (file: string) =>
  new MasterKeyError(
    'There is no master key, and for a database of your own none is made: make one (openssl rand -hex 32) and set ' +
      `TOLLGATE_MASTER_KEY to it on every node, or put it into ${file} (chmod 600).`,
  )

// Puts a new key before the old ones. The old ones stay until every data key is wrapped anew.
export function addMasterKey(dataDir: string) {
  const file = keyFile(dataDir)
  replaceKeyFile(file, `${randomBytes(32).toString('hex')}\n${readFileSync(file, 'utf8')}`)
}

export function forgetOldMasterKeys(dataDir: string) {
  const file = keyFile(dataDir)
  replaceKeyFile(file, `${readKeyFile(file)[0]?.toString('hex')}\n`)
}

// The file stays its owner's: root may rotate the key of a gateway that runs as somebody else.
function replaceKeyFile(file: string, text: string) {
  const { uid, gid } = statSync(file)
  writeDurably(`${file}.new`, text)
  if (process.getuid?.() === 0) chownSync(`${file}.new`, uid, gid)
  renameSync(`${file}.new`, file)
}

const keyFile = (dataDir: string) => join(dataDir, 'master.key')

// Two processes may start at once on a new folder: both prepare a key, and the link lets one of them win.
function createKeyFile(dataDir: string, file: string) {
  makeFolder(dataDir, 0o700)
  const prepared = `${file}.${process.pid}`
  writeDurably(prepared, `${randomBytes(32).toString('hex')}\n`)
  try {
    linkSync(prepared, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(prepared)
  }
}

function writeDurably(file: string, text: string) {
  const fd = openSync(file, 'w', 0o600)
  try {
    writeFileSync(fd, text)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  chmodSync(file, 0o600)
}

function readKeyFile(file: string): Buffer[] {
  if (statSync(file).mode & 0o077)
    throw new MasterKeyError(`${file} can be read by other users. Run: chmod 600 ${file}`)
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  if (lines.length === 0 || !lines.every(line => /^[0-9a-f]{64}$/i.test(line)))
    throw new MasterKeyError(
      `${file} does not hold master keys of 64 hexadecimal digits. Restore it from a backup.`,
    )
  return lines.map(line => Buffer.from(line, 'hex'))
}
