import { demoId, type Welcome } from '../../actions/merchants/onboard.ts'
import type { Config } from '../../config.ts'
import { databaseUrlParts } from '../../core/databaseUrl.ts'
import type { Gateway } from '../../main.ts'
import { linkText } from '../support.ts'
import { type Fact, facts, heading, paint, paragraphs } from '../terminal.ts'
import { version } from '../version.ts'

// What `start --json` prints, in one line, when the gateway listens. The secrets are present on the first start only.
export function startedData(
  { url, baseUrl, dashboardUrl, embedded, welcome, notOriginal }: Gateway,
  config: Config,
  link?: string,
) {
  return {
    url,
    base_url: baseUrl,
    dashboard_url: dashboardUrl,
    data_dir: embedded ? config.TOLLGATE_DATA_DIR : undefined,
    merchant_key: welcome?.merchant_key,
    secret_key: welcome?.secret_key,
    ipn_secret: welcome?.ipn_secret,
    request: welcome?.request,
    support_link: link,
    not_original: notOriginal,
  }
}

// The same for a person, with a payment to try.
export function banner(gateway: Gateway, config: Config, link?: string): string {
  if (config.TOLLGATE_ROLE === 'worker') return workerBanner(gateway, config)
  const text = paragraphs(
    heading(paint('green', `Tollgate ${version} is open`)),
    gateway.notOriginal && paint('yellow', gateway.notOriginal),
    hasShop(gateway, config) &&
      step('Open the demo shop, buy something and watch every step', `  ${gateway.baseUrl}/`),
    signIn(gateway, link),
    facts(addresses(gateway, config)),
    gateway.welcome ? demo(gateway.url, gateway.welcome) : firstSteps,
    paint('dim', 'Ctrl-C stops it.'),
  )
  return `\n${text}\n`
}

function workerBanner({ url, baseUrl, notOriginal }: Gateway, config: Config): string {
  const text = paragraphs(
    heading(paint('green', `Tollgate ${version} runs workers`)),
    notOriginal && paint('yellow', notOriginal),
    facts([
      ['Works for', baseUrl],
      ['Metrics', `${url}/metrics`],
      ['Health', `${url}/healthz`],
      ['Database', withoutPassword(config.DATABASE_URL ?? '')],
    ]),
    paint('dim', 'Ctrl-C stops it.'),
  )
  return `\n${text}\n`
}

// Without the sandbox nobody could pay in it.
const hasShop = ({ welcome }: Gateway, config: Config) => welcome !== undefined && config.TOLLGATE_SANDBOX

function addresses({ url, baseUrl, dashboardUrl, embedded }: Gateway, config: Config): Fact[] {
  const days = config.TOLLGATE_REDACT_DAYS
  return [
    ['Checkout and API', baseUrl],
    ['Dashboard', `${dashboardUrl}/dashboard`],
    ['Listening on', baseUrl === url ? undefined : url],
    ['Reference', `${url}/docs`],
    ['Test phone', config.TOLLGATE_SANDBOX ? `${url}/sandbox/phone` : undefined],
    ['Support', `${url}/support`],
    ['Emails and SMS', `${url}/inbox`],
    ['Metrics', `${url}/metrics`],
    ['Health', `${url}/healthz`],
    ['Payers', days ? `their details are removed ${days} days after a payment has ended` : undefined],
    embedded ? ['Data', config.TOLLGATE_DATA_DIR] : ['Database', withoutPassword(config.DATABASE_URL ?? '')],
  ]
}

// A sign-in link must not end up in a log, so only a terminal gets one.
function signIn({ hasDemo, hasUsers }: Gateway, link: string | undefined) {
  const opens = hasUsers ? opened.operator : hasDemo ? opened.demo : opened.firstAccount
  return link
    ? step(`Open this link ${opens}`, `  ${link}\n  ${paint('dim', linkText)}`)
    : step(`Get a link ${opens}`, '  npx tollgate support link')
}

// Once there is an account, a link opens nothing of the dashboard.
const opened = {
  demo: 'to see the dashboard, as a merchant and as the operator',
  firstAccount: "to create the operator's account of the dashboard",
  operator: 'to sign in to support, emails and metrics; the dashboard has accounts',
}

const step = (title: string, body: string) => paragraphs(heading(title), body)

function withoutPassword(url: string) {
  const { scheme, hosts, rest } = databaseUrlParts(url)
  return `${scheme}${hosts}${rest.replace(/\?.*$/s, '')}`
}

function demo(url: string, { name, merchant_key, secret_key, ipn_secret, request }: Welcome): string {
  const keys = facts([
    ['merchant_key', merchant_key],
    ['secret_key', secret_key ?? secretShownBefore],
    ['ipn_secret', ipn_secret],
  ])
  return paragraphs(
    step(`${name}, a merchant in test mode`, secret_key ? `${keys}\n${shownOnce}` : keys),
    step(
      'Send a payment of GHS 25.00, open the checkout_url of the answer, pay with 0240000000',
      paymentCurl(url, request),
    ),
    step('Read its status', statusCurl(url, request)),
  )
}

const secretShownBefore = `shown on the first start; npx tollgate key rotate --merchant ${demoId} makes a new one`

const shownOnce = `  ${paint('yellow', 'The secrets are shown only now: the first signs your requests, the second the notifications to you.')}`

const firstSteps = step('Register a merchant', "  npx tollgate merchant add --name 'Ama Shop'")

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
