import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../postgres/error.ts'
import { createOnce, draftOf, makeFolder, writeForOwner } from '../postgres/files.ts'
import { isGatewayGroup, type User } from '../postgres/user.ts'
import { masterKeyId, type MasterKeys } from '../store/merchants/vault.ts'

export class MasterKeyError extends Error {}

// Keys from the environment, newest first. They do not change while the process runs.
export function givenMasterKeys(keys: readonly Buffer[]): MasterKeys {
  return {
    newest: () => keys[0] as Buffer,
    byId: id => keys.find(key => masterKeyId(key) === id),
    ids: () => keys.map(masterKeyId),
  }
}

// Keys in a file. A gateway that root starts reads it again as the user that it becomes.
type MasterKeyFile = MasterKeys & {
  giveTo(user: User): void // called as root: lets this user read the file
  checkReadable(): void // called as that user: throws if it cannot read the keys after a rotation
}

// The file has one key per line, newest first, and only its owner can read it. It is read again for an unknown key id:
// another process may have rotated it. With the private database it is created when the first secret is sealed. With
// DATABASE_URL it is never created, because each node would create another.
export function masterKeysInFile(dataDir: string, mayCreate = true): MasterKeyFile {
  const file = keyFile(dataDir)
  let path = file // by which this process opens it
  let keys = existsSync(file) ? readKeyFile(file) : []
  const newest = () => {
    if (keys.length === 0) {
      if (!existsSync(path)) {
        if (!mayCreate) throw noMasterKey(file)
        makeFolder(dataDir, 0o700)
        const me = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
        createOnce(me, file, `${newKey()}\n`)
      }
      keys = readKeyFile(file, path)
    }
    return keys[0] as Buffer
  }
  const readAgain = () => {
    try {
      return existsSync(path) ? readKeyFile(file, path) : []
    } catch (error) {
      if (codeOf(error) === 'EACCES') return [] // it was read as root, and this process has become another user
      throw error
    }
  }
  return {
    newest,
    byId(id) {
      const isKnown = keys.some(key => masterKeyId(key) === id)
      // Old keys stay in memory: rows that were read before a rotation still have to be opened.
      if (!isKnown) keys = [...readAgain(), ...keys]
      return keys.find(key => masterKeyId(key) === id)
    },
    // Includes the keys that were added to the file since: they are read when a secret needs one.
    ids() {
      try {
        return [...new Set([...readAgain(), ...keys].map(masterKeyId))]
      } catch {
        return keys.map(masterKeyId) // somebody is editing the file
      }
    },
    giveTo(user) {
      newest() // creates the file while this process may write to the folder
      path = letRead(dataDir, user)
    },
    checkReadable() {
      try {
        readKeyFile(file, path)
      } catch (error) {
        if (codeOf(error) !== 'EACCES') throw error
        throw new MasterKeyError(
          `${file} cannot be read by user ${process.getuid?.()}, as which a gateway that root starts runs: ` +
            'set TOLLGATE_MASTER_KEY instead, or start Tollgate as the user who owns the file.',
          { cause: error },
        )
      }
    },
  }
}

// Gives a user, by its group, the right to read the key file and to pass through the folder. The owners do not change.
// Returns a path by which that user can open the file even if it may not enter a parent folder.
function letRead(dataDir: string, user: User): string {
  const folder = openSync(dataDir, constants.O_RDONLY | constants.O_DIRECTORY) // stays open
  const file = openSync(keyFile(dataDir), constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const [above, key] = [fstatSync(folder), fstatSync(file)]
    if (!(above.mode & othersMayPass)) {
      const group = above.mode & 0o070
      if (group && above.gid !== 0 && !isGatewayGroup(above.gid))
        throw new MasterKeyError(
          `${dataDir} is open to group ${above.gid} and closed to user ${user.uid}, as which a gateway that root ` +
            `starts runs. Run: chmod 711 ${dataDir}`,
        )
      fchownSync(folder, above.uid, user.gid)
      fchmodSync(folder, (above.mode & 0o700) | 0o010)
    }
    fchownSync(file, key.uid, user.gid)
    fchmodSync(file, (key.mode & 0o600) | groupMayRead)
  } catch (error) {
    if (error instanceof MasterKeyError) throw error
    throw new MasterKeyError(
      `The gateway drops root privileges and then reads ${keyFile(dataDir)} as user ${user.uid}, which cannot be ` +
        `allowed to (${(error as Error).message}): set TOLLGATE_MASTER_KEY instead, or start Tollgate as an ordinary user.`,
      { cause: error },
    )
  } finally {
    closeSync(file)
  }
  return process.platform === 'linux' ? `/proc/self/fd/${folder}/master.key` : keyFile(dataDir)
}

const othersMayPass = 0o001
const groupMayRead = 0o040

const noMasterKey = (file: string) =>
  new MasterKeyError(
    'There is no master key, and with DATABASE_URL none is created: make one (openssl rand -hex 32) and set ' +
      `TOLLGATE_MASTER_KEY to it on every node, or put it into ${file} (chmod 600).`,
  )

// Adds a new key before the old ones. The old ones stay until every data key is wrapped with the new one.
export function addMasterKey(dataDir: string) {
  const file = keyFile(dataDir)
  replaceKeyFile(file, `${newKey()}\n${readFileSync(file, 'utf8')}`)
}

const newKey = () => randomBytes(32).toString('hex')

export function forgetOldMasterKeys(dataDir: string) {
  const file = keyFile(dataDir)
  replaceKeyFile(file, `${readKeyFile(file)[0]?.toString('hex')}\n`)
}

// The owner of the file does not change: root may rotate the key of a gateway that runs as another user. A gateway that root started
// reads the file by its group, which only root can give to the new file.
function replaceKeyFile(file: string, text: string) {
  const { uid, gid, mode } = statSync(file)
  if (mode & groupMayRead && process.getuid?.() !== 0)
    throw new MasterKeyError(
      `${file} is read by a gateway that root started: run this command as root. If no such gateway runs any more, ` +
        `run: chmod 600 ${file}`,
    )
  const draft = draftOf(file)
  writeForOwner({ uid, gid }, draft, text)
  if (mode & groupMayRead) chmodSync(draft, mode & 0o640)
  renameSync(draft, file)
}

const keyFile = (dataDir: string) => join(dataDir, 'master.key')

function readKeyFile(file: string, path = file): Buffer[] {
  const { mode, gid } = statSync(path)
  const isOpen = isGatewayGroup(gid) ? mode & 0o037 : mode & 0o077
  if (isOpen) throw new MasterKeyError(`${file} can be read by other users. Run: chmod 600 ${file}`)
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  if (lines.length === 0 || !lines.every(line => /^[0-9a-f]{64}$/i.test(line)))
    throw new MasterKeyError(
      `${file} does not contain master keys of 64 hexadecimal digits. Restore it from a backup.`,
    )
  return lines.map(line => Buffer.from(line, 'hex'))
}
