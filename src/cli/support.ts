import { audited } from '../actions/access/audit.ts'
import { hasRealUsers } from '../actions/installation/firstVisit.ts'
import { installationSecrets } from '../actions/installation/secrets.ts'
import { makeSupportLink } from '../actions/installation/supportLinks.ts'
import { linkMinutes, operatorKeys, sessionSeconds } from '../core/operator/operatorKeys.ts'
import { dashboardUrlOf } from './baseUrl.ts'
import type { CommandContext } from './database.ts'
import { refused } from './failure.ts'
import type { CliCommand } from './cliCommand.ts'
import type { Output } from './output.ts'
import { paint, paragraphs, printProgress } from './terminal.ts'

export function addSupportCommands(program: CliCommand) {
  const support = program
    .command('support')
    .description('Sign in to the operator pages: /support, /inbox and /metrics.')
    .examples('tollgate support link', 'tollgate support token')
  support
    .command('link')
    .description(
      `Print a link that signs a browser in to /support, /inbox and /metrics. It works once, within ${linkMinutes} minutes.`,
    )
    .examples('tollgate support link', 'TOLLGATE_BASE_URL=https://pay.example tollgate support link --json')
    .runWithMasterKeys(signInLink)
  support
    .command('token')
    .description(
      'Print the token of /support, /inbox and /metrics, for Prometheus and scripts: a bearer token, or the password of ' +
        'Basic authentication with any user name.',
    )
    .examples(
      'tollgate support token',
      'curl -H "Authorization: Bearer $(tollgate support token)" http://127.0.0.1:8080/metrics',
    )
    .runWithMasterKeys(operatorToken)
}

export const linkText = `It works once, within ${linkMinutes} minutes, and keeps this browser signed in for ${sessionSeconds / 86_400} days.`

const overridden = 'TOLLGATE_SUPPORT_TOKEN is set: it replaces the token of this installation.'

async function signInLink(context: CommandContext): Promise<Output> {
  const { db, config, clock } = context
  if (new URL(dashboardUrlOf(config)).port === '0')
    throw refused(
      'PORT is 0, so the address of the gateway is unknown: set PORT or TOLLGATE_BASE_URL, and run this again.',
    )
  const keys = await keysOf(context)
  await recordUse(context, 'support.link')
  const { link, expires_at } = await makeSupportLink(db, keys, dashboardUrlOf(config), clock())
  return {
    data: { link, expires_at, token_is_set: keys.isTokenSet },
    text: paragraphs(
      `Open this link in a browser. ${linkText}`,
      `  ${link}`,
      (await hasRealUsers(db))
        ? paint('dim', 'It opens nothing of the dashboard, which has accounts: sign in at /dashboard.')
        : "While the dashboard has no account, it also offers to create the operator's.",
      keys.isTokenSet && paint('dim', `${overridden} The link works with either.`),
    ),
  }
}

// The text is only the token, so that scripts can use it directly.
async function operatorToken(context: CommandContext): Promise<Output> {
  const { supportToken, isTokenSet } = await keysOf(context)
  await recordUse(context, 'support.token')
  if (isTokenSet) printProgress(overridden)
  return { data: { token: supportToken, token_is_set: isTokenSet }, text: supportToken }
}

// A person with the link or the token can act as support.
const recordUse = ({ db, actor, clock }: CommandContext, action: 'support.link' | 'support.token') =>
  audited(db, actor, clock(), (_, record) =>
    record({ merchant_id: null, action, subject: 'support', before: null, after: null }),
  )

async function keysOf({ db, masterKeys, config, clock }: CommandContext) {
  const { supportToken } = await installationSecrets(db, masterKeys, clock())
  return operatorKeys(supportToken, config.TOLLGATE_SUPPORT_TOKEN)
}
