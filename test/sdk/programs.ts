import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'

// The programs in other languages that run an SDK: a driver that runs single verbs, and a shop with an endpoint.
export type Sdk = {
  language: string
  program: string // skipped without it
  driver: string[] // arguments
  shop(port: number): string[] // arguments
}

// Says plainly on the console if the program is missing.
export function isMissing({ language, program }: Pick<Sdk, 'language' | 'program'>): boolean {
  if (!spawnSync(program, ['--version']).error) return false
  console.warn(`SKIPPED: ${program} is not on this machine, so the ${language} SDK was not tested.`)
  return true
}

export type ClientOptions = Record<string, unknown>
export type DriverError = { class: string; code: string; message: string } & Record<string, unknown>
export type DriverAnswer = { result?: any; error?: DriverError }

const start = (program: string, args: string[], env: Record<string, string> = {}): ChildProcess =>
  spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env },
  })

async function stop(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

export function startDriver({ program, driver }: Sdk) {
  const child = start(program, driver)
  const waiting: ((answer: DriverAnswer) => void)[] = []
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  lines.on('line', line => waiting.shift()?.(JSON.parse(line)))
  child.on('exit', () => waiting.splice(0).forEach(resolve => resolve({ error: noDriver })))
  return {
    run: (op: string, client: ClientOptions, ...args: unknown[]) =>
      new Promise<DriverAnswer>(resolve => {
        waiting.push(resolve)
        child.stdin?.write(`${JSON.stringify({ op, client, args })}\n`)
      }),
    stop: () => stop(child),
  }
}

const noDriver = { class: '', code: '', message: 'the driver ended' }

export type Driver = ReturnType<typeof startDriver>

type ShopOptions = { client: ClientOptions; store: 'file' | 'sql'; lease_seconds: number }

export async function startShop({ program, shop }: Sdk, options: ShopOptions) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-shop-'))
  const orders: Record<string, unknown> = {}
  const port = await freePort()
  const save = () => writeFileSync(join(folder, 'orders.json'), JSON.stringify(orders))
  save()
  writeFileSync(join(folder, 'calls'), '')
  const env = { SHOP: JSON.stringify({ ...options, folder, port }), PHP_CLI_SERVER_WORKERS: '4' }
  const child = start(program, shop(port), env)
  await untilOpen(port)
  return {
    url: `http://127.0.0.1:${port}/ipn`,
    addOrder(invoice_id: string, order: Record<string, unknown>) {
      orders[invoice_id] = { invoice_id, ...order }
      save()
    },
    removeOrder(invoice_id: string) {
      delete orders[invoice_id]
      save()
    },
    // The calls of the shop's function for one invoice.
    calls: (invoice_id: string) =>
      readFileSync(join(folder, 'calls'), 'utf8')
        .split('\n')
        .filter(line => line.startsWith(`${invoice_id} `))
        .map(line => line.slice(invoice_id.length + 1)),
    async stop() {
      await stop(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type Shop = Awaited<ReturnType<typeof startShop>>

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

async function untilOpen(port: number, tries = 200): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const isOpen = await new Promise<boolean>(resolve => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  })
  socket.destroy()
  if (isOpen) return
  if (tries === 0) throw new Error(`nothing listens on port ${port}`)
  await setTimeout(25)
  return untilOpen(port, tries - 1)
}
