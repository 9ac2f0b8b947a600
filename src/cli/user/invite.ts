import { InvalidArgumentError } from 'commander'
import { type Grant, invite, type InviteFault } from '../../actions/access/invitations.ts'
import { merchantRoles, operatorRoles } from '../../core/access/permissions.ts'
import { maxOpenInvitations, invitationDays, userLinkAddress } from '../../core/access/userLink.ts'
import { maxUserEmail } from '../../core/access/user.ts'
import { chosenLang, type Lang } from '../../core/languages/languages.ts'
import { isEmail, isPlainText } from '../../core/text.ts'
import type { CliCommand } from '../cliCommand.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import { refused } from '../failure.ts'
import { type Output, pick } from '../output.ts'
import { paragraphs } from '../terminal.ts'
import { linkTools } from './linkTools.ts'

export function addUserInvite(user: CliCommand) {
  user
    .command('invite <email>')
    .description(
      `Invite a person by mail, and print the link. It works once, within ${invitationDays} days. Without --merchant the role is one of the operator.`,
    )
    .requiredOption(
      '--role <role>',
      `${operatorRoles.join(', ')}; with --merchant ${merchantRoles.join(', ')}`,
    )
    .option('--merchant <id>', 'the merchant whose team the person joins')
    .option('--outlet <codes>', 'the outlets of a cashier, separated by commas; without it all')
    .option('--lang <lang>', 'the language of the mail: en or fr', readLang, 'en')
    .examples(
      'tollgate user invite ama@example.com --role admin',
      'tollgate user invite kofi@example.com --merchant 7c2k9m0x4f --role cashier --outlet osu',
    )
    .runWithMasterKeys(inviteUser)
}

function readLang(text: string): Lang {
  const lang = chosenLang(text)
  if (!lang) throw new InvalidArgumentError('It must be en or fr.')
  return lang
}

type Options = { role: string; merchant?: string; outlet?: string; lang: Lang }

const faults: Record<InviteFault, string> = {
  member: 'This person has a role there already.',
  inactive: 'This user is deactivated: tollgate user activate comes first.',
  full: `At most ${maxOpenInvitations} invitations are open at once.`,
  outlets: 'The merchant has no such outlet: tollgate outlet list shows them.',
}

async function inviteUser(context: CommandContext, email: string, options: Options): Promise<Output> {
  const { deps, change } = await linkTools(context)
  if (!isEmail(email) || !isPlainText(email) || email.length > maxUserEmail)
    throw refused(`${email} is not an email address.`)
  const grant = await grantOf(context, options)
  const result = await invite(deps.db, { email, lang: options.lang }, grant, change)
  if (typeof result === 'string') throw refused(faults[result])
  const link = userLinkAddress(deps.formKey, deps.baseUrl, result.link)
  return {
    data: { ...pick(result.link, 'email', 'expires_at'), link },
    text: paragraphs(
      `${result.link.email} is invited. If a mail server is set up, a mail is on its way; else hand over this link. It works once, within ${invitationDays} days.`,
      `  ${link}`,
    ),
  }
}

async function grantOf({ db }: CommandContext, { role, merchant, outlet }: Options): Promise<Grant> {
  if (merchant === undefined) {
    const operator_role = operatorRoles.find(one => one === role)
    if (!operator_role) throw refused(`--role must be one of ${operatorRoles.join(', ')}.`)
    return { merchant_id: null, operator_role }
  }
  const { merchant_id } = await requireMerchant(db, merchant)
  const found = merchantRoles.find(one => one === role)
  if (!found) throw refused(`--role must be one of ${merchantRoles.join(', ')}.`)
  const outlets = found === 'cashier' && outlet ? outlet.split(',').map(code => code.trim()) : null
  return { merchant_id, role: found, outlets }
}
