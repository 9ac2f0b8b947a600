import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../../config.ts'
import { isMade } from '../../postgres/dataFolder.ts'
import { holdsFiles, noPlace, whyNotBegin } from '../../postgres/files.ts'
import { isGatewayGroup } from '../../postgres/user.ts'
import { type Check, failed, fine, gigabyte, megabyte, size, warning } from './check.ts'

const scarceDisk = gigabyte
const noDisk = 100 * megabyte

// Looks only: a folder that is not there is made by the first start, not by us.
export function checkDataFolder(config: Config): Check[] {
  const folder = config.TOLLGATE_DATA_DIR
  if (config.DATABASE_URL && (config.TOLLGATE_MASTER_KEY || !existsSync(folder)))
    return [fine('data folder', 'not used: all is in DATABASE_URL')]
  const checked = existsSync(folder) ? checkExisting(folder) : checkComing(folder)
  return checked.state === 'failed' ? [checked] : [checked, checkDisk(nearestExisting(folder))]
}

function checkExisting(folder: string): Check {
  const found = statSync(folder)
  if (!holdsFiles(folder)) return failed('data folder', noPlace(folder).message)
  if (!found.isDirectory())
    return failed('data folder', `${folder} is not a folder`, 'Move it away, or set TOLLGATE_DATA_DIR.')
  if (!isWritable(folder)) return notWritable(folder)
  const why = isMade(join(folder, 'postgres')) ? undefined : whyNotBegin(folder)
  if (why) return failed('data folder', why)
  const isForGateway = (found.mode & 0o077) === 0o010 && isGatewayGroup(found.gid) // it passes through, by its group
  if (found.mode & 0o077 && !isForGateway)
    return warning('data folder', `${folder} is open to other users`, `Run: chmod 700 ${folder}`)
  return fine('data folder', folder)
}

function checkComing(folder: string): Check {
  const parent = nearestExisting(folder)
  if (!holdsFiles(parent)) return failed('data folder', noPlace(parent).message)
  if (!statSync(parent).isDirectory() || !isWritable(parent)) return notWritable(parent)
  return fine('data folder', `no data yet; tollgate start makes it in ${folder}`)
}

const notWritable = (folder: string) =>
  failed(
    'data folder',
    `Tollgate may not write to ${folder}`,
    'Give it to the user who runs Tollgate, or set TOLLGATE_DATA_DIR.',
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
    return failed('disk', fact, 'Free some space now: payments cannot be stored on a full disk.')
  if (free < scarceDisk) return warning('disk', fact, 'Free some space, or give the disk more.')
  return fine('disk', fact)
}
