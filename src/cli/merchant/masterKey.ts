import type { Command } from 'commander'
import { rewrapInstallation } from '../../actions/installation/secrets.ts'
import { rewrapKeys, type Rewrapped } from '../../actions/merchants/rewrapKeys.ts'
import { rewrapAccounts } from '../../actions/providers/rewrapAccounts.ts'
import { addMasterKey, forgetOldMasterKeys, masterKeysInFile } from '../../start/masterKeys.ts'
import { installationKeyIdsInUse } from '../../store/installation/installation.ts'
import { masterKeyIdsInUse } from '../../store/merchants/merchants.ts'
import { masterKeyId, type MasterKeys } from '../../store/merchants/vault.ts'
import { accountKeyIdsInUse } from '../../store/providers/accounts.ts'
import { type Opened, withMasterKeys } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'

export function addMasterKeyCommands(program: Command, cli: Cli) {
  const masterKey = program
    .command('master-key')
    .description('Change the key that seals all secrets.')
    .addHelpText('after', examples('tollgate master-key rotate'))
  masterKey
    .command('rotate')
    .description(
      'Seal the secrets of every merchant, of every account at a provider and of the installation itself with a new master key. A key file gets a new first line, and running gateways ' +
        'read it by themselves. With TOLLGATE_MASTER_KEY=new,old the first key becomes the one in use.',
    )
    .option('--forget-old', 'drop the old keys from the file (backups made before need them)')
    .addHelpText('after', examples('tollgate master-key rotate', 'tollgate master-key rotate --forget-old'))
    .action(async ({ forgetOld = false }: { forgetOld?: boolean }) =>
      cli.print(await withMasterKeys(database => rotate(database, forgetOld))),
    )
}

const rotate = (database: Opened, forgetOld: boolean): Promise<Output> =>
  database.config.TOLLGATE_MASTER_KEY
    ? rotateGiven(database, database.config.TOLLGATE_MASTER_KEY, forgetOld)
    : rotateFile(database, forgetOld)

// Every gateway must know the new key before the first secret is sealed with it, so the setting comes first.
async function rotateGiven(database: Opened, keys: Buffer[], forgetOld: boolean): Promise<Output> {
  if (keys.length === 1)
    throw new CannotDo(
      'refused',
      'TOLLGATE_MASTER_KEY holds one key: set it to NEW,OLD (openssl rand -hex 32 makes one), restart the ' +
        'gateways with it, and run this again.',
    )
  if (forgetOld)
    throw new CannotDo(
      'refused',
      'TOLLGATE_MASTER_KEY is yours to change: take the old keys out of it yourself.',
    )
  const { masterKeys } = database
  const rewrapped = await rewrapAll(database, masterKeys)
  const next = 'TOLLGATE_MASTER_KEY needs its first key only, once no backup needs the others.'
  return answer(masterKeyId(masterKeys.newest()), rewrapped, next)
}

// Nodes that share a database do not share the file, and none may meet a key that it does not have.
async function rotateFile(database: Opened, forgetOld: boolean): Promise<Output> {
  const { db, config } = database
  if (config.DATABASE_URL)
    throw new CannotDo(
      'refused',
      'Other gateways may use this database: give them all TOLLGATE_MASTER_KEY=NEW,OLD first (openssl rand -hex 32 ' +
        'makes a key, master.key in the data folder holds the old one), and run this again with it.',
    )
  addMasterKey(config.TOLLGATE_DATA_DIR)
  const masterKeys = masterKeysInFile(config.TOLLGATE_DATA_DIR)
  const newest = masterKeyId(masterKeys.newest())
  const rewrapped = await rewrapAll(database, masterKeys)
  // Somebody may have registered a merchant meanwhile, with the key that was newest for them.
  const inUse = [
    ...(await masterKeyIdsInUse(db)),
    ...(await accountKeyIdsInUse(db)),
    ...(await installationKeyIdsInUse(db)),
  ]
  const safe = forgetOld && inUse.every(id => id === newest)
  if (forgetOld && !safe)
    throw new CannotDo(
      'refused',
      'A merchant or an account was added meanwhile, so the old keys were kept: run this again.',
    )
  if (safe) forgetOldMasterKeys(config.TOLLGATE_DATA_DIR)
  const kept = safe
    ? 'The old keys are forgotten.'
    : 'The old keys stay in the file: backups made before need them.'
  return answer(newest, rewrapped, kept)
}

type AllRewrapped = { merchants: Rewrapped; accounts: Rewrapped; installation: Rewrapped }

const rewrapAll = async ({ db, clock }: Opened, masterKeys: MasterKeys): Promise<AllRewrapped> => ({
  merchants: await rewrapKeys(db, masterKeys),
  accounts: await rewrapAccounts(db, masterKeys, clock()),
  installation: await rewrapInstallation(db, masterKeys),
})

function answer(
  master_key_id: string,
  { merchants, accounts, installation }: AllRewrapped,
  next: string,
): Output {
  const failed = [...merchants.failed, ...accounts.failed, ...installation.failed]
  const changed = merchants.changed + accounts.changed + installation.changed
  if (failed.length > 0)
    throw new CannotDo(
      'refused',
      `The data keys of these do not open and stay as they are; ${changed} others were sealed anew: ` +
        `${failed.join(', ')}.`,
    )
  const whose = [
    counted(merchants.changed, 'merchant'),
    ...(accounts.changed > 0 ? [counted(accounts.changed, 'account')] : []),
  ]
  return {
    data: { master_key_id, merchants: merchants.changed, accounts: accounts.changed },
    text: `Master key ${master_key_id} is in use; the secrets of ${whose.join(' and ')} were sealed with it. ${next}`,
  }
}

const counted = (count: number, what: string) => `${count} ${count === 1 ? what : `${what}s`}`
