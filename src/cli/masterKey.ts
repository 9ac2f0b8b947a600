import { audited } from '../actions/access/audit.ts'
import { rewrapInstallation } from '../actions/installation/secrets.ts'
import { rewrapKeys } from '../actions/merchants/rewrapKeys.ts'
import { rewrapAccounts } from '../actions/providers/rewrapAccounts.ts'
import { nodesThatMayRun } from '../core/operator/nodeList.ts'
import { addMasterKey, forgetOldMasterKeys, masterKeysInFile } from '../start/masterKeys.ts'
import { installationKeyIdsInUse } from '../store/installation/installation.ts'
import { nodeRows } from '../store/installation/nodes.ts'
import { masterKeyIdsInUse } from '../store/merchants/merchants.ts'
import { masterKeyId, type MasterKeys } from '../store/merchants/vault.ts'
import { presentNodes } from '../store/nodeSession.ts'
import { accountKeyIdsInUse } from '../store/providers/accounts.ts'
import type { CommandContext } from './database.ts'
import { refused } from './failure.ts'
import type { CliCommand } from './cliCommand.ts'
import type { Output } from './output.ts'

export function addMasterKeyCommands(program: CliCommand) {
  const masterKey = program
    .command('master-key')
    .description('Change the key that encrypts all secrets.')
    .examples('tollgate master-key rotate')
  masterKey
    .command('rotate')
    .description(
      'Encrypt the secrets of all merchants, all provider accounts and the installation with a new master key. It becomes ' +
        'the first line of the key file, which running gateways read again. With TOLLGATE_MASTER_KEY=new,old the first ' +
        'key becomes the one in use.',
    )
    .option('--forget-old', 'remove the old keys from the file (older backups need them)')
    .examples('tollgate master-key rotate', 'tollgate master-key rotate --forget-old')
    .runWithMasterKeys(rotate)
}

type Options = { forgetOld?: true }

const rotate = (context: CommandContext, options: Options): Promise<Output> =>
  context.config.TOLLGATE_MASTER_KEY ? useFirstKey(context, options) : rotateFile(context, options)

// Every gateway must have the new key before a secret is sealed with it, so the setting changes first.
async function useFirstKey(context: CommandContext, { forgetOld }: Options): Promise<Output> {
  const { masterKeys, config } = context
  if (config.TOLLGATE_MASTER_KEY?.length === 1)
    throw refused(
      'TOLLGATE_MASTER_KEY has one key: set it to NEW,OLD (openssl rand -hex 32 makes one), restart the ' +
        'gateways with it, and run this again.',
    )
  if (forgetOld)
    throw refused('This command cannot change TOLLGATE_MASTER_KEY: remove the old keys from it yourself.')
  const without = await nodesWithoutKey(context)
  if (without.length > 0)
    throw refused(
      `These nodes do not have the new key ${masterKeyId(masterKeys.newest())}: ${without.join(', ')}. They could not open ` +
        'any secret after the rotation. Set TOLLGATE_MASTER_KEY=NEW,OLD there, restart them, and run this again ' +
        '(tollgate nodes shows the keys of each; a node that has died is forgotten after half a minute).',
    )
  const next = 'Remove the other keys from TOLLGATE_MASTER_KEY once no backup needs them.'
  return outputOf(masterKeys, await rewrapAll(context, masterKeys), next)
}

// A node of a release that says nothing about its keys counts as one without the key.
async function nodesWithoutKey({ db, masterKeys }: CommandContext): Promise<string[]> {
  const id = masterKeyId(masterKeys.newest())
  const [rows, locked] = await Promise.all([nodeRows(db), presentNodes(db)])
  return nodesThatMayRun(rows, locked)
    .filter(({ row }) => !row?.key_ids.includes(id))
    .map(({ number, row }) =>
      row ? `${row.name} (${row.listens_at})` : `an earlier release (lock ${number})`,
    )
}

// Nodes that share a database do not share the file, and a node without the key cannot open the secret.
async function rotateFile(context: CommandContext, { forgetOld }: Options): Promise<Output> {
  const { db, config } = context
  if (config.DATABASE_URL)
    throw refused(
      'Other gateways may use this database: give them all TOLLGATE_MASTER_KEY=NEW,OLD first (openssl rand -hex 32 ' +
        'makes a key, master.key in the data folder has the old one), and run this again with it.',
    )
  addMasterKey(config.TOLLGATE_DATA_DIR)
  const masterKeys = masterKeysInFile(config.TOLLGATE_DATA_DIR)
  const rewrapped = await rewrapAll(context, masterKeys)
  if (!forgetOld)
    return outputOf(masterKeys, rewrapped, 'The old keys stay in the file: older backups need them.')
  // Another process may have sealed a secret meanwhile, with the key that was the newest for it.
  const inUse = [
    ...(await masterKeyIdsInUse(db)),
    ...(await accountKeyIdsInUse(db)),
    ...(await installationKeyIdsInUse(db)),
  ]
  if (inUse.some(id => id !== masterKeyId(masterKeys.newest())))
    throw refused(
      'A merchant or an account was added meanwhile, so the old keys are still in the file: run this again.',
    )
  forgetOldMasterKeys(config.TOLLGATE_DATA_DIR)
  return outputOf(masterKeys, rewrapped, 'The old keys are forgotten.')
}

// Recorded first, because each secret is rewrapped by itself.
async function rewrapAll({ db, clock, actor }: CommandContext, masterKeys: MasterKeys) {
  const subject = masterKeyId(masterKeys.newest())
  await audited(db, actor, clock(), (_, record) =>
    record({ merchant_id: null, action: 'master_key.rotate', subject, before: null, after: null }),
  )
  return {
    merchants: await rewrapKeys(db, masterKeys),
    accounts: await rewrapAccounts(db, masterKeys, clock()),
    installation: await rewrapInstallation(db, masterKeys),
  }
}

function outputOf(
  masterKeys: MasterKeys,
  { merchants, accounts, installation }: Awaited<ReturnType<typeof rewrapAll>>,
  next: string,
): Output {
  const master_key_id = masterKeyId(masterKeys.newest())
  const failed = [...merchants.failed, ...accounts.failed, ...installation.failed]
  const changed = merchants.changed + accounts.changed + installation.changed
  if (failed.length > 0)
    throw refused(
      `The data keys of ${failed.join(', ')} cannot be opened and were not changed. ${changed} others were encrypted with ` +
        'the new key.',
    )
  const owners = [
    counted(merchants.changed, 'merchant'),
    ...(accounts.changed > 0 ? [counted(accounts.changed, 'account')] : []),
  ]
  return {
    data: { master_key_id, merchants: merchants.changed, accounts: accounts.changed },
    text: `Master key ${master_key_id} is in use; the secrets of ${owners.join(' and ')} were encrypted with it. ${next}`,
  }
}

const counted = (count: number, what: string) => `${count} ${count === 1 ? what : `${what}s`}`
