import { auditedDb } from '../../actions/access/audit.ts'
import {
  rotateIpnPassword,
  rotateIpnSecret,
  rotateKey,
  useMerchantId,
} from '../../actions/merchants/credentials.ts'
import type { AuditEntry } from '../../core/access/audit.ts'
import { ipnPasswordEntry, ipnSecretEntry, keyEntry } from '../../core/access/auditEntries.ts'
import { readMerchantSettings, type SettingTexts } from '../../core/merchant/settings.ts'
import type { Mode } from '../../core/mode.ts'
import type { Db } from '../../store/db.ts'
import { type SealedIpnPasswords, sealedIpnPassword } from '../../store/merchants/merchants.ts'
import type { CliCommand } from '../cliCommand.ts'
import { type CommandContext, merchantNotFound } from '../database.ts'
import type { Output } from '../output.ts'
import { dateTime, facts, paint, paragraphs } from '../terminal.ts'
import { modeOption, overlapOption } from '../values.ts'

type Rotation = { merchant: string; mode: Mode; overlap: number }
type PasswordRotation = { merchant: string; mode: Mode; merchantId?: true }

const shownOnce = (what: string) => paint('yellow', `The ${what} is shown only now.`)

export function addKeyCommands(program: CliCommand) {
  const key = program
    .command('key')
    .description("Change a merchant's keys.")
    .examples('tollgate key rotate --merchant 7c2k9m0x4f --overlap 24h')
  key
    .command('rotate')
    .description('Issue a new key and secret. The old ones still work for the overlap.')
    .requiredOption('--merchant <id>', 'the merchant')
    .addOption(modeOption('which key').default('test'))
    .addOption(overlapOption('how long the old key still works'))
    .examples(...rotationExamples('key rotate'))
    .runWithMasterKeys(rotateKeyPair)
}

export function addIpnSecretCommands(merchant: CliCommand) {
  const secret = merchant
    .command('ipn-secret')
    .description("Change the secret that signs a merchant's notifications.")
    .examples('tollgate merchant ipn-secret rotate --merchant 7c2k9m0x4f')
  secret
    .command('rotate')
    .description(
      'Issue a new signing secret. Until the overlap ends, notifications are signed with the old one too. A still ' +
        'older one ends now.',
    )
    .requiredOption('--merchant <id>', 'the merchant')
    .addOption(modeOption('which notifications').default('test'))
    .addOption(overlapOption('how long the old secret still signs'))
    .examples(...rotationExamples('merchant ipn-secret rotate'))
    .runWithMasterKeys(rotateSecret)
}

const rotationExamples = (command: string) => [
  `tollgate ${command} --merchant 7c2k9m0x4f`,
  `tollgate ${command} --merchant 7c2k9m0x4f --mode live --overlap 7d`,
  `tollgate ${command} --merchant 7c2k9m0x4f --mode live --overlap 0  # the old one leaked`,
]

// A Db that writes the entry of a result and the mails to the owners in the commit of the change.
const recordedKeys = (
  { db, actor }: Pick<CommandContext, 'db' | 'actor'>,
  now: Date,
  entryOf: (result: never) => AuditEntry | undefined,
): Db => auditedDb(db, actor, now, entryOf, { change: 'keys', by: actor.id })

type RotatedKey = Awaited<ReturnType<typeof rotateKey>>
type RotatedSecret = Awaited<ReturnType<typeof rotateIpnSecret>>

async function rotateKeyPair(
  { masterKeys, clock, ...context }: CommandContext,
  { merchant, mode, overlap }: Rotation,
): Promise<Output> {
  const now = clock()
  const recorded = recordedKeys(context, now, (result: RotatedKey) => result && keyEntry(result))
  const rotated = await rotateKey(recorded, masterKeys, merchant, mode, overlap, now)
  if (!rotated) throw merchantNotFound(merchant)
  const { merchant_key, secret_key, old_keys_valid_until: until } = rotated
  const text = paragraphs(
    `Merchant ${merchant} has a new ${mode} key.`,
    facts([
      ['merchant_key', merchant_key],
      ['secret_key', secret_key],
      ['old key', overlap === 0 ? 'ends now' : `works until ${dateTime(new Date(until))}`],
    ]),
    shownOnce('secret'),
  )
  return { data: rotated, text }
}

async function rotateSecret(
  { masterKeys, clock, ...context }: CommandContext,
  { merchant, mode, overlap }: Rotation,
): Promise<Output> {
  const now = clock()
  const recorded = recordedKeys(context, now, (result: RotatedSecret) => result && ipnSecretEntry(result))
  const rotated = await rotateIpnSecret(recorded, masterKeys, merchant, mode, overlap, now)
  if (!rotated) throw merchantNotFound(merchant)
  const { ipn_secret, old_secret_valid_until: until } = rotated
  const text = paragraphs(
    `Merchant ${merchant} has a new signing secret for its ${mode} notifications.`,
    facts([
      ['ipn_secret', ipn_secret],
      ['old secret', overlap === 0 ? 'ends now' : `signs too until ${dateTime(new Date(until))}`],
    ]),
    shownOnce('secret'),
  )
  return { data: rotated, text }
}

export function addIpnPasswordCommands(merchant: CliCommand) {
  const password = merchant
    .command('ipn-password')
    .description("Change the password of a merchant's notifications in ipn_style basic.")
    .examples(rotatePasswordCommand('7c2k9m0x4f', 'live'))
  password
    .command('rotate')
    .description('Make a new password for one mode. It replaces the old one at once.')
    .requiredOption('--merchant <id>', 'the merchant')
    .addOption(modeOption('which notifications').makeOptionMandatory())
    .option('--merchant-id', "for an old client: use the merchant's id, which is not secret, as the password")
    .examples(
      rotatePasswordCommand('7c2k9m0x4f', 'test'),
      rotatePasswordCommand('7c2k9m0x4f', 'live'),
      `${rotatePasswordCommand('7c2k9m0x4f', 'test')} --merchant-id`,
    )
    .runWithMasterKeys(rotatePassword)
}

export const rotatePasswordCommand = (merchant_id: string, mode: Mode) =>
  `tollgate merchant ipn-password rotate --merchant ${merchant_id} --mode ${mode}`

async function rotatePassword(
  { masterKeys, clock, ...context }: CommandContext,
  { merchant, mode, merchantId }: PasswordRotation,
): Promise<Output> {
  const recorded = recordedKeys(
    context,
    clock(),
    (result: { merchant_id: string; mode: Mode } | undefined) =>
      result && ipnPasswordEntry(result, merchantId === true),
  )
  const rotated = await (merchantId
    ? useMerchantId(recorded, merchant, mode)
    : rotateIpnPassword(recorded, masterKeys, merchant, mode))
  if (!rotated) throw merchantNotFound(merchant)
  const text = paragraphs(
    `The ${mode} notifications of merchant ${merchant} in style basic use this password within a second.`,
    facts([['ipn_password', rotated.ipn_password]]),
    merchantId ? paint('yellow', 'It is not secret: it is the merchant’s id.') : shownOnce('password'),
  )
  return { data: rotated, text }
}

// Which password style basic sends: one made for this mode, or the merchant_id.
export type PasswordState = 'own' | 'merchant_id'

// Null if the style is not basic.
export function passwordStates(
  merchant: SealedIpnPasswords & { settings: SettingTexts },
): Record<Mode, PasswordState> | null {
  if (readMerchantSettings(merchant.settings).ipn_style !== 'basic') return null
  return { test: stateOf(merchant, 'test'), live: stateOf(merchant, 'live') }
}

const stateOf = (passwords: SealedIpnPasswords, mode: Mode): PasswordState =>
  sealedIpnPassword(passwords, mode) === null ? 'merchant_id' : 'own'
