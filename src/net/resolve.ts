import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isLoopback, whyForbidden } from './addressGuard.ts'
import { isLocalName, portWords, type Target } from './target.ts'
import { Trouble } from './trouble.ts'

const dnsMs = 2000
const dnsTryMs = 700 // then the question is asked again, or the next name server

// All addresses of the target, each of them vetted: one bad address refuses the whole name, since a name that mixes
// public and private addresses is either an attack or a mistake.
export async function vettedAddresses(target: Target, nameServers?: readonly string[]): Promise<string[]> {
  const addresses = await addressesOf(target.host, nameServers)
  for (const address of addresses) vet(target, address)
  return addresses
}

// The words name the kind, not the address: inside a company it is not for strangers to know.
export function vet({ host, port, allowLoopback, loopbackOnly }: Target, address: string) {
  const why = whyForbidden(address, allowLoopback)
  const leads = isIP(host) === 0 ? 'leads to' : 'is'
  if (why !== undefined) throw new Trouble('forbidden_address', `${host} ${leads} ${why}`)
  if (loopbackOnly && !isLoopback(address)) throw new Trouble('forbidden_address', portWords(port))
}

async function addressesOf(host: string, nameServers?: readonly string[]) {
  if (isIP(host) !== 0) return [host]
  if (isLocalName(host)) return ['127.0.0.1', '::1']
  return lookUp(host, nameServers)
}

// We ask the name servers ourselves: the system's own look-up has no deadline and holds a thread while it waits.
// One resolver per question reads the system's settings anew and can be given up without harm to another.
async function lookUp(host: string, nameServers?: readonly string[]) {
  const resolver = new Resolver({ timeout: dnsTryMs, tries: 2 })
  if (nameServers) resolver.setServers(nameServers)
  const timer = setTimeout(() => resolver.cancel(), dnsMs)
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  clearTimeout(timer)
  const addresses = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
  if (addresses.length > 0) return addresses
  throw new Trouble('name_not_found', wordsOf(host, answers.map(codeOf)))
}

const codeOf = (answer: PromiseSettledResult<unknown>) =>
  answer.status === 'rejected' ? String((answer.reason as NodeJS.ErrnoException).code) : 'ENODATA'

function wordsOf(host: string, codes: string[]) {
  if (codes.includes('ENOTFOUND')) return `${host} does not exist`
  if (codes.every(code => code === 'ENODATA')) return `${host} has no address`
  const late = codes.some(code => code === 'ECANCELLED' || code === 'ETIMEOUT')
  return late
    ? `the name servers did not answer for ${host}`
    : `the name servers failed for ${host} (${codes.join(', ')})`
}
