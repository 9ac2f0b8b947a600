import { freemem, totalmem } from 'node:os'
import type { Config } from '../../config.ts'
import { neededNode } from '../version.ts'
import { type Check, failed, fine, megabyte, size, warning } from './check.ts'

const enoughMemory = 400 * megabyte // for PostgreSQL and Tollgate together, at rest
const years = [2025, 2100] as const // no clock that is right says anything else for now

export const checkMachine = (config?: Config): Check[] => [
  checkNode(config),
  checkMemory(),
  checkYear(new Date()),
]

function checkNode(config?: Config): Check {
  const { platform, arch, versions } = process
  const fact = `Node ${versions.node} on ${platform} ${arch}`
  if (!isAtLeast(versions.node, neededNode))
    return failed('machine', fact, `Tollgate needs Node ${neededNode}: install a newer one.`)
  const bringsPostgres = platform === 'linux' && ['x64', 'arm64'].includes(arch)
  if (config && !config.DATABASE_URL && !bringsPostgres)
    return failed('machine', fact, 'Tollgate brings no PostgreSQL for this machine: set DATABASE_URL.')
  return fine('machine', fact)
}

function isAtLeast(version: string, range: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [neededMajor = 0, neededMinor = 0] = range.replace(/^\D+/, '').split('.').map(Number)
  return major > neededMajor || (major === neededMajor && minor >= neededMinor)
}

function checkMemory(): Check {
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY // that of a container
  const total = Math.min(totalmem(), limit)
  const free = Math.min(freemem(), limit)
  const fact = `${size(free)} free of ${size(total)}`
  if (free >= enoughMemory) return fine('memory', fact)
  return warning('memory', fact, `Free some: PostgreSQL and Tollgate want about ${size(enoughMemory)}.`)
}

function checkYear(now: Date): Check {
  const fact = `it is ${now.toISOString()} here`
  const year = now.getUTCFullYear()
  if (year >= years[0] && year < years[1]) return fine('clock', fact)
  return failed('clock', fact, 'Set the clock of this machine (timedatectl set-ntp true).')
}
