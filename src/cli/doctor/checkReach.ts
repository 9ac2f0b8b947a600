import { randomBytes, randomInt } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import type { Config } from '../../config.ts'
import { whyNotPublic } from '../../core/addressRules.ts'
import { isLoopbackName, ownDashboardAddress } from '../../core/networkSettings.ts'
import type { OperatorKeys } from '../../core/operator/operatorKeys.ts'
import {
  askSelf,
  type ForwardedFault,
  isOwnAnswer,
  type SelfCheckAnswer,
  selfCheckHeader,
  selfCheckPath,
  whyNotForwarded,
} from '../../core/operator/selfCheck.ts'
import { cleanText } from '../../core/text.ts'
import { reach, type Unreached } from '../../net/reach.ts'
import { allChecks, type Check, checkFailed, checkOk, checkWarning } from './check.ts'

// Where TOLLGATE_BASE_URL and TOLLGATE_DASHBOARD_URL lead, and what the proxies on the way do with the headers.

const reachMs = 3000
const answerMs = 4000
const certificateDays = 14
const dayMs = 86_400_000

type Asked = { config: Config; keys: OperatorKeys; nodes: number; now: Date }

export async function checkReach({ config, keys, nodes, now }: Asked): Promise<Check[]> {
  const { TOLLGATE_BASE_URL: base, TOLLGATE_DASHBOARD_URL: dashboard } = config
  const urls: [string, string][] = [
    ...(base ? [['base URL', base] as [string, string]] : []),
    ...(dashboard && ownDashboardAddress(config) ? [['dashboard', dashboard] as [string, string]] : []),
  ]
  if (nodes === 0) return urls.map(([name, url]) => checkOk(name, `${url}: not tried, because no node runs`))
  const checks = await Promise.all(urls.map(([name, url]) => checkUrl(name, url, keys, now)))
  return checks.flat()
}

async function checkUrl(name: string, url: string, keys: OperatorKeys, now: Date): Promise<Check[]> {
  const { protocol, hostname, port } = new URL(url)
  const tls = protocol === 'https:'
  const host = hostname.replace(/^\[|\]$/g, '')
  const { failed, certificateEnds } = await reach(
    { host, port: Number(port) || (tls ? 443 : 80), tls },
    reachMs,
  )
  if (failed) return [unreached(name, url, failed)]
  const days = certificateEnds
    ? Math.floor((certificateEnds.getTime() - Date.now()) / dayMs)
    : certificateDays
  return allChecks(
    days < certificateDays &&
      checkWarning(
        'certificate',
        `that of ${host} ends in ${days} days, on ${certificateEnds?.toISOString().slice(0, 10)}`,
        'Renew it, and reload the proxy.',
      ),
    await checkAnswer(name, url, keys, now),
  )
}

function unreached(name: string, url: string, { step, why }: Unreached): Check {
  if (step !== 'TLS')
    return checkWarning(
      name,
      `${url} cannot be reached from this machine: ${step} failed: ${why}`,
      step === 'DNS'
        ? 'Make a DNS record for it. If customers reach it, give this machine the same name servers.'
        : 'Start the proxy, or allow the connection. If customers reach it, allow it from this machine, too.',
    )
  return checkFailed(
    name,
    `${url}: TLS failed: ${why}`,
    'Give the proxy a certificate of a public authority for this host, with the whole chain, and let it serve https.',
  )
}

// The forged header is what a dishonest client would send.
async function checkAnswer(name: string, url: string, keys: OperatorKeys, now: Date): Promise<Check[]> {
  const nonce = randomBytes(18).toString('base64url')
  const forged = `203.0.113.${randomInt(1, 255)}` // of a network for examples
  const begin = new Date(Math.max(now.getTime(), Date.now())) // either clock may be wrong
  const headers = { [selfCheckHeader]: askSelf(keys, nonce, begin), 'x-forwarded-for': forged }
  let response: Response
  let text: string
  try {
    const signal = AbortSignal.timeout(answerMs)
    response = await fetch(`${url}${selfCheckPath}`, { headers, redirect: 'manual', signal })
    text = (await response.text()).slice(0, 10_000)
  } catch (error) {
    if ((error as Error).name === 'TimeoutError')
      return [checkFailed(name, `${url} does not answer within ${answerMs / 1000} s`, lookAtProxy)]
    return [
      checkFailed(name, `${url} does not answer with HTTP`, 'Correct the scheme or the port of the address.'),
    ]
  }
  const answer = readAnswer(text)
  if (answer && isOwnAnswer(keys, nonce, answer.proof))
    return allChecks(checkOk(name, `${url} leads to this installation`), checkForwarded(forged, answer))
  return [foreign(name, url, response)]
}

const lookAtProxy = 'Look at the log of the proxy: it has to pass requests to HOST and PORT of a node.'

function foreign(name: string, url: string, { status, headers }: Response): Check {
  if (status >= 300 && status < 400)
    return checkFailed(
      name,
      `${url} redirects to ${originOf(headers.get('location') ?? '', url)}`,
      'Set it to the address that answers itself: the requests of shops do not follow a redirect.',
    )
  if ([502, 503, 504].includes(status))
    return checkFailed(name, `${url}: the proxy answers HTTP ${status}, so it reaches no node`, lookAtProxy)
  if ((headers.get('x-request-id') ?? '').startsWith('req_'))
    return checkFailed(
      name,
      `${url} leads to a Tollgate of another installation`,
      'Correct the address, or DATABASE_URL, so that both belong to the same installation.',
    )
  return checkFailed(
    name,
    `${url} leads to another program (HTTP ${status})`,
    'Correct the address, its DNS record, or the rule of the proxy for it.',
  )
}

function originOf(location: string, url: string): string {
  try {
    return new URL(location, url).origin
  } catch {
    return cleanText(location, 60)
  }
}

function readAnswer(text: string): SelfCheckAnswer | undefined {
  try {
    const { proof, address, forwarded_for, trusted_proxies } = JSON.parse(text) as SelfCheckAnswer
    const isAnswer = [proof, address, forwarded_for].every(one => typeof one === 'string')
    return isAnswer && Number.isInteger(trusted_proxies)
      ? { proof, address, forwarded_for, trusted_proxies }
      : undefined
  } catch {
    return undefined
  }
}

function checkForwarded(forged: string, answer: SelfCheckAnswer): Check {
  const trusted = answer.trusted_proxies
  const fault = whyNotForwarded(forged, answer)
  if (!fault)
    return checkOk(
      'proxies',
      trusted === 0
        ? 'none sets X-Forwarded-For, and the gateway trusts none'
        : `${proxies(trusted)} X-Forwarded-For, as TOLLGATE_TRUST_PROXY says`,
    )
  const settings = `${proxies(fault.found)} X-Forwarded-For, and TOLLGATE_TRUST_PROXY is ${trusted}`
  if (fault.is === 'forgeable')
    return checkFailed(
      'proxies',
      `a client can choose the address that the gateway takes for its own: ${settings}`,
      cure(fault),
    )
  return checkWarning(
    'proxies',
    `all customers have one address and share its limits: ${settings}`,
    cure(fault),
  )
}

const proxies = (count: number) =>
  count === 0 ? 'no proxy sets' : count === 1 ? 'one proxy sets' : `${count} proxies set`

const cure = ({ is, found }: ForwardedFault) =>
  is === 'too_many'
    ? `Set TOLLGATE_TRUST_PROXY=${found} if all of them are yours.`
    : `Let the outermost proxy replace X-Forwarded-For by the address of its client (deploy/nginx), and set TOLLGATE_TRUST_PROXY=${Math.max(1, found)}; without a proxy, 0.`

const ownAddresses = () =>
  Object.values(networkInterfaces()).flatMap(own => (own ?? []).map(({ address }) => address))

// With a trusted proxy, a client that reaches the port itself can name any address. `addresses`: of this machine.
export function checkExposure(
  { HOST, PORT, TOLLGATE_TRUST_PROXY }: Config,
  addresses = ownAddresses(),
): Check | undefined {
  if (TOLLGATE_TRUST_PROXY === 0 || isLoopbackName(HOST)) return undefined
  const isAll = HOST === '0.0.0.0' || HOST === '::'
  const open = addresses.find(one => (isAll || one === HOST) && whyNotPublic(one, false) === undefined)
  if (open === undefined) return undefined
  return checkWarning(
    'proxies',
    `the gateway trusts the proxy in front, and port ${PORT} of ${open} is open to clients that pass it`,
    'Set HOST to an address that only the proxy reaches. If a firewall does that already, this is fine.',
  )
}
