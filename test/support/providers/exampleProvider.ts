import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { noTools } from '../payments/simulatedNode.ts'

// A provider module as an operator could add it. Its accounts have a secret, an option, and a mode that the secret shows.
const source = `
  const way = { badge: { text: 'A', background: '#123456', ink: '#ffffff' }, currencies: ['GHS'], lifetimeMs: 300000 }
  export default {
    settings: [
      { name: 'url', words: 'Where Acme is.' },
      { name: 'key', words: 'From its desk.', isSecret: true },
      { name: 'shop', words: 'The number of the shop.', usual: '4711' },
    ],
    open({ url, key, shop }, tools) {
      if (!/^(test|live)_/.test(key)) throw new Error('key: must begin with test_ or live_, and is ' + key)
      async function ask(path, signal) {
        const answer = await fetch(url + path, { headers: { authorization: key }, signal })
        if (answer.status !== 200) return { state: 'unknown', words: 'HTTP ' + answer.status }
        const told = await answer.json()
        return told.amount ? { ...told, amount: BigInt(told.amount) } : told
      }
      return {
        mode: key.slice(0, 4),
        account: 'acme ' + shop,
        startIsIdempotent: true,
        visibleWithinMs: 60000,
        failureMayReverseForMs: 0,
        methods: [
          { ...way, payment_method: 'mtn_mobile_money', label: 'Acme', fields: [{ name: 'phone', kind: 'phone' }],
            next: 'prompt', limits: { GHS: { most: 100000n } } },
          { ...way, payment_method: 'card', label: 'Acme card', fields: [], next: 'redirect' },
        ],
        egress: tools.egress,
        start: (order, signal) => ask('/start/' + order.idempotency_key, signal),
        check: (order, signal) => ask('/check/' + order.idempotency_key, signal),
        handleWebhook: () => undefined,
        async checkCredentials(signal) {
          const answer = await fetch(url + '/test', { headers: { authorization: key }, signal })
          return answer.status === 200
            ? { isValid: true, words: 'Acme knows shop ' + shop + '.' }
            : { isValid: false, words: 'Acme does not know the key ' + key + '.' }
        },
      }
    },
  }`

// A folder with this module and further ones.
export function exampleProviderFolder(others: Record<string, string> = {}): URL {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-acme-'))
  for (const [name, text] of Object.entries({ acme: source, ...others }))
    writeFileSync(join(folder, `${name}.js`), text)
  return pathToFileURL(`${folder}/`)
}

export const exampleTools = { ...noTools, tokenOf: () => noTools.token }

export type ExampleProvider = Awaited<ReturnType<typeof openExampleProvider>>

const waits = () => ({ state: 'pending' })

// The provider's server: it accepts the known keys and replies to every order as the test says.
export async function openExampleProvider(...keys: string[]) {
  const known = new Set(keys)
  const asked: { path: string; key: string }[] = []
  let say: (order: string) => unknown = waits
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? ''
    const key = incoming.headers.authorization ?? ''
    asked.push({ path, key })
    const order = path.split('/')[2] ?? ''
    outgoing.writeHead(known.has(key) ? 200 : 401, { 'content-type': 'application/json' })
    outgoing.end(JSON.stringify(say(order)))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    known,
    asked,
    says: (what: (order: string) => unknown) => void (say = what),
    close: () => new Promise<void>(resolve => (server.closeAllConnections(), server.close(() => resolve()))),
  }
}
