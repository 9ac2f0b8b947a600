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
import { type CommandContext, requireMerchant, withDatabase } from '../database.ts'
import type { CliCommand } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { dateTime, type Fact, facts, heading, indented, table } from '../terminal.ts'
import { type PasswordState, passwordStates, rotatePasswordCommand } from './rotate.ts'
import { hasNoOrigins, originsAdvice, settingFact, settingLines, settingsData } from './set.ts'

export function addMerchantShow(merchant: CliCommand, cli: Cli) {
  merchant
    .command('show <id>')
    .description('Show a merchant: its settings, keys, signing secrets and outlets. Secrets are never shown.')
    .examples('tollgate merchant show 7c2k9m0x4f', 'tollgate merchant show 7c2k9m0x4f --json')
    .action(async (id: string) => cli.print(await withDatabase(context => show(context, id))))
}

async function show({ db, clock }: CommandContext, id: string): Promise<Output> {
  const now = clock()
  const merchant = await requireMerchant(db, id)
  const keys = await listMerchantKeys(db, id)
  const secrets = await listIpnSecrets(db, id)
  const outlets = await listOutlets(db, id)
  const logo = await findLogoRecord(db, id)
  const { merchant_id, name, active, created_at, settings } = merchant
  const lines = settingLines(settings)
  const passwords = passwordStates(merchant)
  return {
    data: {
      merchant_id,
      name,
      active,
      created_at,
      settings: settingsData(settings),
      logo: logo ?? null,
      default_settings: lines.filter(line => line.isDefault).map(line => line.name),
      unreadable_settings: lines.filter(line => line.unreadable !== undefined).map(line => line.name),
      keys: keys.map(({ merchant_key, mode, ...key }) => ({
        merchant_key,
        mode,
        created_at: key.created_at,
        expires_at: key.expires_at,
      })),
      ipn_secrets: secrets.map(({ secret_id, mode, ...secret }) => ({
        secret_id,
        mode,
        created_at: secret.created_at,
        expires_at: secret.expires_at,
      })),
      ipn_passwords: passwords,
      outlets: outlets.map(({ code, ...outlet }) => ({
        code,
        name: outlet.name,
        created_at: outlet.created_at,
      })),
    },
    text: [
      about(merchant, logo),
      `${heading('Settings')}\n${facts(lines.map(settingFact))}`,
      ...(hasNoOrigins(settings) ? [originsAdvice(merchant_id)] : []),
      `${heading('Keys')}\n${indented(keyTable(keys, now))}`,
      `${heading('Signing secrets of notifications')}\n${facts([...secretFacts(secrets, now), ...passwordFacts(merchant_id, passwords)])}`,
      `${heading('Outlets')}\n${indented(outletTable(merchant_id, outlets))}`,
    ].join('\n\n'),
  }
}

const about = ({ merchant_id, name, active, created_at }: Merchant, logo: LogoRecord | undefined) =>
  `${heading(name)}\n${facts([
    ['merchant_id', merchant_id],
    ['active', active ? 'yes' : 'no'],
    ['created', dateTime(created_at)],
    ['logo', logo ? `${logo.type}, ${logo.width}x${logo.height}, ${logo.size} bytes` : 'none'],
  ])}`

function keyTable(keys: readonly MerchantKey[], now: Date): string {
  const end = ({ expires_at }: MerchantKey) =>
    expires_at ? `${expires_at <= now ? 'ended' : 'until'} ${dateTime(expires_at)}` : 'no end'
  const rows = keys.map(key => [key.merchant_key, key.mode, dateTime(key.created_at), end(key)])
  return table(['KEY', 'MODE', 'CREATED', 'VALID'], rows)
}

const secretFacts = (secrets: readonly IpnSecret[], now: Date) =>
  (['test', 'live'] as const).map((mode: Mode): Fact => {
    const live = secrets.filter(secret => secret.mode === mode && isLive(secret, now))
    const ends = live.flatMap(({ expires_at }) => (expires_at ? [dateTime(expires_at)] : []))
    return [mode, `${live.length} live${ends.length > 0 ? `, the old one until ${ends.join(', ')}` : ''}`]
  })

const passwordFacts = (merchant_id: string, passwords: Record<Mode, PasswordState> | null): Fact[] =>
  passwords === null
    ? []
    : (['test', 'live'] as const).map(mode => [
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
