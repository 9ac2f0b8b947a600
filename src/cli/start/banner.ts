import { demoId, type Welcome } from '../../actions/merchants/onboard.ts'
import type { Config } from '../../config.ts'
import type { Gateway } from '../../main.ts'
import { linkWords } from '../support/support.ts'
import { type Fact, facts, heading, paint } from '../terminal.ts'
import { version } from '../version.ts'

// What `start --json` says, in one line, when it is listening. The secret is there on the first start only.
export function started({ url, baseUrl, embedded, welcome }: Gateway, config: Config, link?: string) {
  return {
    url,
    base_url: baseUrl,
    data_dir: embedded ? config.TOLLGATE_DATA_DIR : undefined,
    merchant_key: welcome?.merchant_key,
    secret_key: welcome?.secret_key,
    ipn_secret: welcome?.ipn_secret,
    request: welcome?.request,
    support_link: link,
  }
}

// The same for a person: where everything is, and a payment to try.
export function banner(gateway: Gateway, config: Config, link?: string): string {
  const parts = [
    heading(paint('green', `Tollgate ${version} is open`)),
    facts(addresses(gateway, config)),
    signIn(link),
    ...(gateway.welcome ? demo(gateway.url, gateway.welcome) : [firstSteps]),
    paint('dim', 'Ctrl-C stops it.'),
  ]
  return `\n${parts.join('\n\n')}\n`
}

function addresses({ url, baseUrl, embedded }: Gateway, config: Config): Fact[] {
  const days = config.TOLLGATE_REDACT_DAYS
  const elsewhere: Fact[] = baseUrl === url ? [] : [['Listening on', url]]
  return [
    ['Checkout and API', baseUrl],
    ...elsewhere,
    ['Reference', `${url}/docs`],
    ...(config.TOLLGATE_SANDBOX ? [['Test phone', `${url}/sandbox/phone`] satisfies Fact] : []),
    ['Support', `${url}/support`],
    ['Mails and SMS', `${url}/inbox`],
    ['Metrics', `${url}/metrics`],
    ['Health', `${url}/healthz`],
    ...(days
      ? [['Payers', `what is known of them is removed ${days} days after a payment ended`] satisfies Fact]
      : []),
    embedded ? ['Data', config.TOLLGATE_DATA_DIR] : ['Database', withoutPassword(config.DATABASE_URL ?? '')],
  ]
}

// A log is no place for a link: only a terminal shows one.
const signIn = (link: string | undefined) =>
  link
    ? `${heading('Open this link to sign in to support, mails and metrics')}\n\n  ${link}\n  ${paint('dim', linkWords)}`
    : `${heading('Get a link to sign in to support, mails and metrics')}\n\n  npx tollgate support link`

const withoutPassword = (url: string) => url.replace(/\/\/[^@/]*@/, '//').replace(/\?.*$/s, '')

function demo(url: string, { name, merchant_key, secret_key, ipn_secret, request }: Welcome): string[] {
  const keys: Fact[] = [
    ['merchant_key', merchant_key],
    [
      'secret_key',
      secret_key ?? `shown on the first start; npx tollgate key rotate --merchant ${demoId} gives a new one`,
    ],
    ...(ipn_secret ? [['ipn_secret', ipn_secret] satisfies Fact] : []),
  ]
  return [
    `${heading(`${name}, a merchant in test mode`)}\n\n${facts(keys)}${secret_key ? `\n${shownOnce}` : ''}`,
    `${heading('Send a payment of GHS 25.00, open the checkout_url of the answer, pay with 0240000000')}\n\n${paymentCurl(url, request)}`,
    `${heading('See how it stands')}\n\n${statusCurl(url, request)}`,
  ]
}

const shownOnce = `  ${paint('yellow', 'The secrets are shown this once: the first signs your requests, the second our notifications.')}`

const firstSteps = `${heading('Register a merchant')}\n\n  npx tollgate merchant add --name 'Ama Shop'`

// The body has a line for every field, so that it can be read; the shell does not mind.
function paymentCurl(url: string, request: Welcome['request']): string {
  const body = JSON.stringify(request, undefined, 2).replaceAll('\n', '\n  ')
  return [
    `curl -sS ${quoted(`${url}/v1/mobile_agents_v2`)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quoted(body)}`,
  ].join('\n')
}

const statusCurl = (url: string, { merchant_key, invoice_id }: Welcome['request']) =>
  [
    `curl -sS -G ${quoted(`${url}/v1/gateway/json_status_chk`)} \\`,
    `  -d merchant_key=${merchant_key} \\`,
    `  -d invoice_id=${invoice_id}`,
  ].join('\n')

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
