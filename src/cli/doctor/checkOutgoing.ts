import { Resolver } from 'node:dns/promises'
import { connect } from 'node:net'
import type { Config } from '../../config.ts'
import { readMerchantSettings } from '../../core/merchant/settings.ts'
import { readProxy } from '../../core/networkSettings.ts'
import { readUrl } from '../../core/text.ts'
import { reach } from '../../net/reach.ts'
import { checkMessengers } from '../../runtime/messengers.ts'
import type { Db } from '../../store/db.ts'
import { liveMerchants } from '../../store/merchants/merchants.ts'
import { allChecks, type Check, checkFailed, checkOk, checkWarning, firstFew } from './check.ts'

// What the gateway sends requests through and to: messengers, proxies and name servers.

const messengerMs = 4000
const proxyMs = 3000
const tunnelMs = 2000
const dnsTryMs = 1000
const dnsTries = 2

const protocols: Record<string, string> = { smtp: 'SMTP', smpp: 'SMPP', smsHttp: 'SMS by HTTP' }

// No message is sent.
export async function checkMessengerServers(config: Config): Promise<Check[]> {
  const checked = await checkMessengers(config.messengerSettings, messengerMs)
  return checked.map(({ name, server, reached, failed }) => {
    const protocol = protocols[name] ?? name
    if (!failed) return checkOk('messengers', `${protocol}: ${server} ${reached}`)
    return checkWarning(
      'messengers',
      `${protocol}: ${failed.step} failed at ${server}: ${failed.why}`,
      `${cures[failed.step]} Until then customers get no messages by it (docs/messengers.md).`,
    )
  })
}

const cures = {
  DNS: 'Correct the host in the setting, or the name servers of this machine.',
  connect: 'Start the server, allow the connection in the firewall, or correct host and port in the setting.',
  TLS: 'Correct the certificate of the server, the setting for its authority (_TLS_CA), or the scheme.',
  greeting: 'Correct the port or the scheme in the setting, or look at the log of the server.',
  login: 'Correct user and password in the setting.',
}

export const checkProxies = async (config: Config): Promise<Check[]> =>
  allChecks(
    ...(await Promise.all([
      checkProxy('TOLLGATE_EGRESS_PROXY', config.TOLLGATE_EGRESS_PROXY, 'no notification can be sent'),
      checkProxy(
        'TOLLGATE_PROVIDER_EGRESS_PROXY',
        config.TOLLGATE_PROVIDER_EGRESS_PROXY,
        'no provider can be reached',
      ),
    ])),
  )

async function checkProxy(
  setting: string,
  text: string | undefined,
  effect: string,
): Promise<Check | undefined> {
  const proxy = text === undefined ? undefined : readProxy(text)
  if (!proxy) return undefined
  const { host, port, authorization } = proxy
  const name = `the proxy ${host}:${port}`
  const { failed } = await reach({ host, port }, proxyMs)
  if (failed)
    return checkFailed(
      'egress',
      `${name} cannot be used: ${failed.step} failed: ${failed.why}`,
      `Start it, or correct ${setting}: until then ${effect}.`,
    )
  const answer = await askForTunnel(host, port, authorization)
  if (answer === 'works') return undefined
  if (answer === 'does not answer')
    return checkWarning(
      'egress',
      `${name} ${answer} a request for a tunnel within ${tunnelMs / 1000} seconds`,
      `Look at its log and its name servers, or correct ${setting}: if it never answers, ${effect}.`,
    )
  return checkFailed('egress', `${name} ${answer}`, `Correct ${setting}: until then ${effect}.`)
}

type TunnelAnswer =
  | 'works'
  | 'does not answer'
  | 'does not answer with HTTP'
  | 'closes the connection without an answer'
  | 'refuses the user or the password'

// Asks for a tunnel to a name that never exists, so that it leads nowhere. Every HTTP answer but one shows that the proxy
// works. One that waits for its own name servers may take longer than this check.
function askForTunnel(host: string, port: number, authorization: string | undefined): Promise<TunnelAnswer> {
  return new Promise(resolve => {
    const socket = connect({ host, port })
    const end = (answer: TunnelAnswer) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    const timer = setTimeout(() => end('does not answer'), tunnelMs)
    socket.on('error', () => end('closes the connection without an answer'))
    socket.once('end', () => end('closes the connection without an answer'))
    socket.once('data', (answer: Buffer) => {
      const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(answer.toString('latin1')) ?? []
      if (status === undefined) end('does not answer with HTTP')
      else end(status === '407' ? 'refuses the user or the password' : 'works')
    })
    const credentials = authorization ? `proxy-authorization: ${authorization}\r\n` : ''
    socket.write(`CONNECT tollgate.invalid:443 HTTP/1.1\r\nhost: tollgate.invalid:443\r\n${credentials}\r\n`)
  })
}

// The name servers of TOLLGATE_EGRESS_DNS, each by itself.
export async function checkNameServers({
  TOLLGATE_EGRESS_DNS: servers = [],
}: Config): Promise<Check | undefined> {
  if (servers.length === 0) return undefined
  const faults = await Promise.all(servers.map(server => whyNoName('example.com', [server])))
  const dead = servers.flatMap((server, at) => (faults[at] === undefined ? [] : [`${server} ${faults[at]}`]))
  if (dead.length === 0) return checkOk('egress', `the name servers ${firstFew(servers)} answer`)
  const fact = `name servers for the hosts of shops: ${firstFew(dead)}`
  const todo = 'Start it, or correct TOLLGATE_EGRESS_DNS: notifications to named hosts need a name server.'
  return dead.length === servers.length
    ? checkFailed('egress', fact, todo)
    : checkWarning('egress', fact, todo)
}

// The name servers of this machine, by the host of a shop that gets live notifications.
export async function checkSystemNames(db: Db, config: Config): Promise<Check | undefined> {
  if (config.TOLLGATE_EGRESS_DNS) return undefined
  const hosts = (await liveMerchants(db)).flatMap(({ settings }) => {
    const host = readUrl(readMerchantSettings(settings).ipn_url ?? '')?.hostname ?? ''
    return /[a-z]/i.test(host) && host.includes('.') && !host.includes(':') ? [host] : []
  })
  const [host] = hosts
  const why = host === undefined ? undefined : await whyNoName(host)
  if (why === undefined) return undefined
  return checkFailed(
    'egress',
    `the name server of this machine ${why} for ${host}, the host of a shop`,
    'Correct /etc/resolv.conf, or set TOLLGATE_EGRESS_DNS: notifications to named hosts need a name server.',
  )
}

// That a name does not exist is an answer, too.
async function whyNoName(name: string, servers?: readonly string[]): Promise<string | undefined> {
  const resolver = new Resolver({ timeout: dnsTryMs, tries: dnsTries })
  if (servers) resolver.setServers(servers)
  const timer = setTimeout(() => resolver.cancel(), dnsTryMs * dnsTries)
  try {
    await resolver.resolve4(name)
    return undefined
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOTFOUND', 'ENODATA', 'NOTFOUND', 'NODATA'].includes(code)) return undefined
    if (['ETIMEOUT', 'ECANCELLED', 'ECONNREFUSED'].includes(code)) return 'does not answer'
    return `refuses to answer (${code})`
  } finally {
    clearTimeout(timer)
  }
}
