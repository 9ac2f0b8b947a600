import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { freemem, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import type { Config } from '../../config.ts'
import { isMade } from '../../postgres/dataFolder.ts'
import { holdsFiles, noPlace, whyNotUsable } from '../../postgres/files.ts'
import { isGatewayGroup } from '../../postgres/user.ts'
import { givenMasterKeys, masterKeysInFile } from '../../start/masterKeys.ts'
import { userToBecome } from '../../start/privileges.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { failureOf } from '../failure.ts'
import { neededNode } from '../version.ts'
import { type Check, checkFailed, checkOk, checkWarning } from './check.ts'

const megabyte = 1_000_000
const gigabyte = 1_000_000_000
const enoughMemory = 400 * megabyte // for PostgreSQL and Tollgate together, at rest
const lowDisk = gigabyte
const noDisk = 100 * megabyte
const plausibleYears = [2025, 2100] as const

const size = (bytes: number) =>
  bytes < gigabyte ? `${Math.floor(bytes / megabyte)} MB` : `${(bytes / gigabyte).toFixed(1)} GB`

export const checkMachine = (config?: Config): Check[] => [
  checkNode(config),
  checkMemory(),
  checkYear(new Date()),
]

function checkNode(config?: Config): Check {
  const { platform, arch, versions } = process
  const fact = `Node ${versions.node} on ${platform} ${arch}`
  if (!isAtLeast(versions.node, neededNode))
    return checkFailed('machine', fact, `Tollgate needs Node ${neededNode}: install a newer one.`)
  const hasEmbedded = platform === 'linux' && ['x64', 'arm64'].includes(arch)
  if (config && !config.DATABASE_URL && !hasEmbedded)
    return checkFailed('machine', fact, 'Tollgate has no PostgreSQL for this machine: set DATABASE_URL.')
  return checkOk('machine', fact)
}

function isAtLeast(version: string, range: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [neededMajor = 0, neededMinor = 0] = range.replace(/^\D+/, '').split('.').map(Number)
  return major > neededMajor || (major === neededMajor && minor >= neededMinor)
}

function checkMemory(): Check {
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY // of a container
  const total = Math.min(totalmem(), limit)
  const free = Math.min(freemem(), limit)
  const fact = `${size(free)} free of ${size(total)}`
  if (free >= enoughMemory) return checkOk('memory', fact)
  return checkWarning('memory', fact, `Free some: PostgreSQL and Tollgate need about ${size(enoughMemory)}.`)
}

function checkYear(now: Date): Check {
  const fact = `this machine has ${now.toISOString()}`
  const year = now.getUTCFullYear()
  if (year >= plausibleYears[0] && year < plausibleYears[1]) return checkOk('clock', fact)
  return checkFailed('clock', fact, 'Set the clock of this machine (timedatectl set-ntp true).')
}

// The user that a gateway would run as if the current user started it now.
export function checkUser(): Check {
  try {
    const user = userToBecome()
    if (user)
      return checkOk('user', `a gateway that root starts drops its privileges and runs as user ${user.uid}`)
    return checkOk('user', `a gateway runs as the user who starts it, now ${process.getuid?.() ?? 'you'}`)
  } catch (error) {
    return checkFailed('user', failureOf(error).message)
  }
}

// The user that the gateway on this machine runs as. Undefined if that cannot be read.
export function checkUserOf(pid: number): Check | undefined {
  const file = `/proc/${pid}/status`
  const uid = existsSync(file) ? /^Uid:\s*(\d+)/m.exec(readFileSync(file, 'utf8'))?.[1] : undefined
  if (uid === undefined) return undefined
  const fact = `the gateway (process ${pid}) runs as `
  if (uid !== '0') return checkOk('user', `${fact}user ${uid}`)
  return checkWarning('user', `${fact}root`, 'Restart it: this version drops the privileges of root.')
}

// Creates nothing: the first start creates a missing folder.
export function checkDataFolder(config: Config): Check[] {
  const folder = config.TOLLGATE_DATA_DIR
  if (config.DATABASE_URL && (config.TOLLGATE_MASTER_KEY || !existsSync(folder)))
    return [checkOk('data folder', 'not used: all data is in DATABASE_URL')]
  const check = existsSync(folder) ? checkExistingFolder(folder) : checkMissingFolder(folder)
  return check.state === 'failed' ? [check] : [check, checkDisk(nearestExisting(folder))]
}

function checkExistingFolder(folder: string): Check {
  const stats = statSync(folder)
  if (!holdsFiles(folder)) return checkFailed('data folder', noPlace(folder).message)
  if (!stats.isDirectory())
    return checkFailed('data folder', `${folder} is not a folder`, 'Move it away, or set TOLLGATE_DATA_DIR.')
  if (!isWritable(folder)) return notWritable(folder)
  const why = isMade(join(folder, 'postgres')) ? undefined : whyNotUsable(folder)
  if (why) return checkFailed('data folder', why)
  const isForGateway = (stats.mode & 0o077) === 0o010 && isGatewayGroup(stats.gid) // its group may enter, no more
  if (stats.mode & 0o077 && !isForGateway)
    return checkWarning('data folder', `${folder} is open to other users`, `Run: chmod 700 ${folder}`)
  return checkOk('data folder', folder)
}

function checkMissingFolder(folder: string): Check {
  const parent = nearestExisting(folder)
  if (!holdsFiles(parent)) return checkFailed('data folder', noPlace(parent).message)
  if (!statSync(parent).isDirectory() || !isWritable(parent)) return notWritable(parent)
  return checkOk('data folder', `no data yet; tollgate start creates ${folder}`)
}

const notWritable = (folder: string) =>
  checkFailed(
    'data folder',
    `Tollgate may not write to ${folder}`,
    'Make the user who runs Tollgate its owner, or set TOLLGATE_DATA_DIR.',
  )

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

const nearestExisting = (folder: string): string =>
  existsSync(folder) ? folder : nearestExisting(dirname(folder))

function checkDisk(folder: string): Check {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const fact = `${size(free)} free`
  if (free < noDisk)
    return checkFailed('disk', fact, 'Free some space now: payments cannot be stored on a full disk.')
  if (free < lowDisk) return checkWarning('disk', fact, 'Free some space, or enlarge the disk.')
  return checkOk('disk', fact)
}

export function checkMasterKey(config: Config): Check {
  const count = config.TOLLGATE_MASTER_KEY?.length
  if (count) return checkOk('master key', `${count === 1 ? 'one' : count} in TOLLGATE_MASTER_KEY`)
  const file = keyFile(config)
  if (!existsSync(file) && config.DATABASE_URL)
    return checkFailed(
      'master key',
      'none is set, and with DATABASE_URL none is created',
      `Make one (openssl rand -hex 32) and set TOLLGATE_MASTER_KEY to it on every node, or write it to ${file}.`,
    )
  if (!existsSync(file)) return checkOk('master key', `none yet; tollgate start creates ${file}`)
  try {
    masterKeysInFile(config.TOLLGATE_DATA_DIR)
    return checkOk('master key', file)
  } catch (error) {
    return checkFailed('master key', failureOf(error).message)
  }
}

// Undefined if there is none. Unlike a start, this never creates a key.
export function presentMasterKeys(config: Config): MasterKeys | undefined {
  if (config.TOLLGATE_MASTER_KEY) return givenMasterKeys(config.TOLLGATE_MASTER_KEY)
  if (!existsSync(keyFile(config))) return undefined
  try {
    return masterKeysInFile(config.TOLLGATE_DATA_DIR)
  } catch {
    return undefined // reported by checkMasterKey
  }
}

const keyFile = (config: Config) => join(config.TOLLGATE_DATA_DIR, 'master.key')
