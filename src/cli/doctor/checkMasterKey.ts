import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { givenMasterKeys, masterKeysInFile } from '../../start/masterKeys.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { failureOf } from '../failure.ts'
import { type Check, failed, fine } from './check.ts'

export function checkMasterKey(config: Config): Check {
  const given = config.TOLLGATE_MASTER_KEY?.length
  if (given) return fine('master key', `${given === 1 ? 'one' : given} in TOLLGATE_MASTER_KEY`)
  const file = keyFile(config)
  if (!existsSync(file) && config.DATABASE_URL)
    return failed(
      'master key',
      'none is set or found, and for a database of your own none is made',
      `Make one (openssl rand -hex 32) and set TOLLGATE_MASTER_KEY to it on every node, or put it into ${file}.`,
    )
  if (!existsSync(file)) return fine('master key', `none yet; tollgate start makes it in ${file}`)
  try {
    masterKeysInFile(config.TOLLGATE_DATA_DIR)
    return fine('master key', file)
  } catch (error) {
    return failed('master key', failureOf(error).message)
  }
}

// Undefined where there is none: asking for it would make one.
export function presentMasterKeys(config: Config): MasterKeys | undefined {
  if (config.TOLLGATE_MASTER_KEY) return givenMasterKeys(config.TOLLGATE_MASTER_KEY)
  if (!existsSync(keyFile(config))) return undefined
  try {
    return masterKeysInFile(config.TOLLGATE_DATA_DIR)
  } catch {
    return undefined // told by checkMasterKey
  }
}

const keyFile = (config: Config) => join(config.TOLLGATE_DATA_DIR, 'master.key')
