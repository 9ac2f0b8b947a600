import { demoId, type Welcome } from '../../actions/merchants/onboard.ts'
import type { Config } from '../../config.ts'
import type { Gateway } from '../../main.ts'
import { linkText } from '../support.ts'
import { type Fact, facts, heading, paint } from '../terminal.ts'
import { version } from '../version.ts'

// What `start --json` prints, in one line, when the gateway listens. The secrets are present on the first start only.
export function startedData({ url, baseUrl, embedded, welcome }: Gateway, config: Config, link?: string) {
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

// The same for a person, with a payment to try.
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
  return [
    ['Checkout and API', baseUrl],
    ...(baseUrl === url ? [] : [['Listening on', url] satisfies Fact]),
    ['Reference', `${url}/docs`],
    ...(config.TOLLGATE_SANDBOX ? [['Test phone', `${url}/sandbox/phone`] satisfies Fact] : []),
    ['Support', `${url}/support`],
    ['Emails and SMS', `${url}/inbox`],
    ['Metrics', `${url}/metrics`],
    ['Health', `${url}/healthz`],
    ...(days
      ? [['Payers', `their details are removed ${days} days after a payment has ended`] satisfies Fact]
      : []),
    embedded ? ['Data', config.TOLLGATE_DATA_DIR] : ['Database', withoutPassword(config.DATABASE_URL ?? '')],
  ]
}

// A sign-in link must not end up in a log, so only a terminal gets one.
const signIn = (link: string | undefined) =>
  link
    ? `${heading('Open this link to sign in to support, emails and metrics')}\n\n  ${link}\n  ${paint('dim', linkText)}`
    : `${heading('Get a link to sign in to support, emails and metrics')}\n\n  npx tollgate support link`

const withoutPassword = (url: string) => url.replace(/\/\/[^@/]*@/, '//').replace(/\?.*$/s, '')

function demo(url: string, { name, merchant_key, secret_key, ipn_secret, request }: Welcome): string[] {
  const keys: Fact[] = [
    ['merchant_key', merchant_key],
    [
      'secret_key',
      secret_key ?? `shown on the first start; npx tollgate key rotate --merchant ${demoId} makes a new one`,
    ],
    ...(ipn_secret ? [['ipn_secret', ipn_secret] satisfies Fact] : []),
  ]
  return [
    `${heading(`${name}, a merchant in test mode`)}\n\n${facts(keys)}${secret_key ? `\n${shownOnce}` : ''}`,
    `${heading('Send a payment of GHS 25.00, open the checkout_url of the answer, pay with 0240000000')}\n\n${paymentCurl(url, request)}`,
    `${heading('Read its status')}\n\n${statusCurl(url, request)}`,
  ]
}

const shownOnce = `  ${paint('yellow', 'The secrets are shown only now: the first signs your requests, the second the notifications to you.')}`

const firstSteps = `${heading('Register a merchant')}\n\n  npx tollgate merchant add --name 'Ama Shop'`

// One line for each field, for reading. The shell accepts line breaks in quotes.
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
