import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createRandom } from '../support/random.ts'

// The network between a node and its database: a pair of virtual interfaces into a network namespace, in which a program
// relays each connection to a proxy. While it is cut, packets are lost and nothing is refused, as behind a broken switch.
export type Link = {
  urls: readonly string[] // of the proxies, across the link
  cut(): void
  mend(): void
  stop(): Promise<void>
}

const firstPort = 5432
const relay = fileURLToPath(new URL('relay.js', import.meta.url))
const { random } = createRandom(process.pid)

// Undefined if this machine does not allow it.
export async function openLink(urls: readonly string[], folder: string): Promise<Link | undefined> {
  const id = Math.floor(random() * 2 ** 24)
  const name = `tg${id.toString(36)}` // names of interfaces have at most 15 letters
  // Of 198.18.0.0/15, which is reserved for tests of networks.
  const [near, far] = [1, 2].map(n => `198.18.${(id >> 6) & 255}.${((id & 63) << 2) + n}`)
  const remove = () => {
    ip('link', 'del', `${name}a`)
    ip('netns', 'del', name)
  }
  const isMade =
    process.getuid?.() === 0 &&
    ip('netns', 'add', name) &&
    ip('link', 'add', `${name}a`, 'type', 'veth', 'peer', 'name', `${name}b`, 'netns', name) &&
    ip('address', 'add', `${near}/30`, 'dev', `${name}a`) &&
    ip('link', 'set', `${name}a`, 'up') &&
    ip('-n', name, 'address', 'add', `${far}/30`, 'dev', `${name}b`) &&
    ip('-n', name, 'link', 'set', `${name}b`, 'up')
  if (!isMade) {
    remove()
    return undefined
  }
  const sockets = urls.map((_, at) => join(folder, `${name}-${at}`))
  const servers = await Promise.all(
    urls.map((url, at) => serveSocket(sockets[at] ?? '', Number(new URL(url).port))),
  )
  const command = ['netns', 'exec', name, process.execPath, relay, String(firstPort), ...sockets]
  const child = spawn('ip', command, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit') // Ctrl-C ends it, too
  await Promise.race([once(child.stdout, 'data'), failed(child)])
  return {
    urls: urls.map((url, at) => url.replace(new URL(url).host, `${far}:${firstPort + at}`)),
    // The far end, so that the near one keeps its route and packets are not sent elsewhere.
    cut: () => void ip('-n', name, 'link', 'set', `${name}b`, 'down'),
    mend: () => void ip('-n', name, 'link', 'set', `${name}b`, 'up'),
    async stop() {
      child.kill('SIGKILL')
      await ended
      for (const server of servers) server.close()
      remove()
    },
  }
}

const ip = (...args: string[]): boolean => spawnSync('ip', args, { stdio: 'ignore' }).status === 0

async function failed(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit')
  throw new Error(`the relay of a network namespace ended with ${code}`)
}

// A socket in the file system, which a program in another network namespace can reach.
async function serveSocket(path: string, port: number): Promise<Server> {
  const server = createServer({ noDelay: true, allowHalfOpen: true }, socket => {
    const proxy = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    for (const [one, other] of [
      [socket, proxy],
      [proxy, socket],
    ] as const) {
      one.on('error', () => {}).on('close', () => other.end())
      one.pipe(other)
    }
  })
  await once(server.listen(path), 'listening')
  return server
}
