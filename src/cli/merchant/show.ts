import { shownSettings } from '../../core/merchant/shownSettings.ts'
import type { Mode } from '../../core/mode.ts'
import {
  type IpnSecret,
  isLive,
  listIpnSecrets,
  listMerchantKeys,
  type MerchantKey,
} from '../../store/merchants/credentials.ts'
import {
  findLogoRecord,
  listOutlets,
  type LogoRecord,
  type Merchant,
  type Outlet,
} from '../../store/merchants/merchants.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import type { CliCommand } from '../cliCommand.ts'
import { type Output, pick } from '../output.ts'
import { dateTime, type Fact, facts, indented, paragraphs, section, table } from '../terminal.ts'
import { type PasswordState, passwordStates, rotatePasswordCommand } from './rotate.ts'
import { hasNoOrigins, originsAdvice, settingFact, settingsData } from './set.ts'

export function addMerchantShow(merchant: CliCommand) {
  merchant
    .command('show <id>')
    .description('Show a merchant: its settings, keys, signing secrets and outlets. Secrets are never shown.')
    .examples('tollgate merchant show 7c2k9m0x4f', 'tollgate merchant show 7c2k9m0x4f --json')
    .runWithDatabase(show)
}

async function show({ db, clock }: CommandContext, id: string): Promise<Output> {
  const now = clock()
  const merchant = await requireMerchant(db, id)
  const { merchant_id, settings } = merchant
  const keys = await listMerchantKeys(db, id)
  const secrets = await listIpnSecrets(db, id)
  const outlets = await listOutlets(db, id)
  const logo = await findLogoRecord(db, id)
  const shown = shownSettings(settings)
  const passwords = passwordStates(merchant)
  const secretAndPasswordFacts = [...secretFacts(secrets, now), ...passwordFacts(merchant_id, passwords)]
  return {
    data: {
      ...pick(merchant, 'merchant_id', 'name', 'active', 'created_at'),
      settings: settingsData(settings),
      logo: logo ?? null,
      default_settings: shown.filter(one => one.isDefault).map(one => one.name),
      unreadable_settings: shown.filter(one => one.unreadable !== undefined).map(one => one.name),
      keys: keys.map(key => pick(key, 'merchant_key', 'mode', 'created_at', 'expires_at', 'last_used_at')),
      ipn_secrets: secrets.map(secret =>
        pick(secret, 'secret_id', 'mode', 'created_at', 'expires_at', 'last_used_at'),
      ),
      ipn_passwords: passwords,
      outlets: outlets.map(outlet => pick(outlet, 'code', 'name', 'created_at')),
    },
    text: paragraphs(
      section(merchant.name, facts(merchantFacts(merchant, logo))),
      section('Settings', facts(shown.map(settingFact))),
      hasNoOrigins(settings) && originsAdvice(merchant_id),
      section('Keys', indented(keyTable(keys, now))),
      section('Signing secrets of notifications', facts(secretAndPasswordFacts)),
      section('Outlets', indented(outletTable(merchant_id, outlets))),
    ),
  }
}

const merchantFacts = ({ merchant_id, active, created_at }: Merchant, logo?: LogoRecord): Fact[] => [
  ['merchant_id', merchant_id],
  ['active', active ? 'yes' : 'no'],
  ['created', dateTime(created_at)],
  ['logo', logo ? `${logo.type}, ${logo.width}x${logo.height}, ${logo.size} bytes` : 'none'],
]

function keyTable(keys: readonly MerchantKey[], now: Date): string {
  const end = ({ expires_at }: MerchantKey) =>
    expires_at ? `${expires_at <= now ? 'ended' : 'until'} ${dateTime(expires_at)}` : 'no end'
  const rows = keys.map(key => {
    const lastUsed = key.last_used_at ? dateTime(key.last_used_at) : 'not yet'
    return [key.merchant_key, key.mode, dateTime(key.created_at), lastUsed, end(key)]
  })
  return table(['KEY', 'MODE', 'CREATED', 'LAST USED', 'VALID'], rows)
}

const modes = ['test', 'live'] as const

const secretFacts = (secrets: readonly IpnSecret[], now: Date) =>
  modes.map((mode): Fact => {
    const live = secrets.filter(secret => secret.mode === mode && isLive(secret, now))
    const ends = live.flatMap(({ expires_at }) => (expires_at ? [dateTime(expires_at)] : []))
    const uses = live.flatMap(({ last_used_at }) => (last_used_at ? [dateTime(last_used_at)] : []))
    const until = ends.length > 0 ? `, the old one until ${ends.join(', ')}` : ''
    return [mode, `${live.length} live${until}${uses.length > 0 ? `, last used ${uses.join(' and ')}` : ''}`]
  })

const passwordFacts = (merchant_id: string, passwords: Record<Mode, PasswordState> | null): Fact[] =>
  passwords === null
    ? []
    : modes.map(mode => [
        `${mode} password`,
        passwords[mode] === 'own'
          ? 'its own'
          : `the merchant_id, which is not secret: ${rotatePasswordCommand(merchant_id, mode)} makes one`,
      ])

function outletTable(merchant_id: string, outlets: readonly Outlet[]): string {
  if (outlets.length === 0)
    return `None: tollgate outlet add --merchant ${merchant_id} --code CODE --name NAME adds one.`
  return table(
    ['CODE', 'NAME'],
    outlets.map(outlet => [outlet.code, outlet.name]),
  )
}
