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
  probe?: string[] // arguments that fail if the program lacks what the tests need
  folder: string // has the README and the SDK itself
  driver: string[] // arguments
  shop(port: number): string[] // arguments
  serve(file: string, port: number): string[] // arguments that serve an endpoint of the README
}

// Says plainly on the console if the program is missing.
export function isMissing({ language, program, probe = ['--version'] }: Sdk): boolean {
  const { error, status } = spawnSync(program, probe)
  if (!error && status === 0) return false
  const what = error ? program : `what \`${program} ${probe.join(' ')}\` asks for`
  console.warn(`SKIPPED: ${what} is not on this machine, so the ${language} SDK was not tested.`)
  return true
}

export type ClientOptions = Record<string, unknown>
export type DriverError = { class: string; code: string; message: string } & Record<string, unknown>
export type DriverAnswer = { result?: any; error?: DriverError }

// Its own process group, because a server has further processes.
const start = (program: string, args: string[], env: Record<string, string> = {}, cwd = '.'): ChildProcess =>
  spawn(program, args, {
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env },
    detached: true,
  })

async function stop(child: ChildProcess) {
  const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
  try {
    process.kill(-(child.pid ?? 0), 'SIGKILL')
  } catch {
    // The group has ended.
  }
  await ended
}

export function startDriver({ program, driver }: Sdk) {
  const child = start(program, driver)
  child.stderr?.pipe(process.stderr)
  const waiting: ((answer: DriverAnswer) => void)[] = []
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  lines.on('line', line => waiting.shift()?.(JSON.parse(line)))
  let hasEnded = false
  child.on('exit', () => {
    hasEnded = true
    for (const resolve of waiting.splice(0)) resolve({ error: noDriver })
  })
  return {
    run: (op: string, client: ClientOptions, ...args: unknown[]) =>
      new Promise<DriverAnswer>(resolve => {
        if (hasEnded) return resolve({ error: noDriver })
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
  const save = () => writeFileSync(join(folder, 'orders.json'), JSON.stringify(orders))
  save()
  writeFileSync(join(folder, 'calls'), '')
  const server = await startServer(program, shop, port => ({
    SHOP: JSON.stringify({ ...options, folder, port }),
    PHP_CLI_SERVER_WORKERS: '4',
  }))
  return {
    url: server.url,
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
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type Shop = Awaited<ReturnType<typeof startShop>>

export async function startServer(
  program: string,
  args: (port: number) => string[],
  env: (port: number) => Record<string, string>,
  cwd = '.',
) {
  const port = await freePort()
  const child = start(program, args(port), env(port), cwd)
  const output: string[] = []
  child.stdout?.on('data', part => output.push(String(part)))
  child.stderr?.on('data', part => output.push(String(part)))
  await untilOpen(port, output)
  return { url: `http://127.0.0.1:${port}/ipn`, output: () => output.join(''), stop: () => stop(child) }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

async function untilOpen(port: number, output: string[], tries = 400): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const isOpen = await new Promise<boolean>(resolve => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  })
  socket.destroy()
  if (isOpen) return
  if (tries === 0) throw new Error(`the shop has not started: ${output.join('')}`)
  await setTimeout(25)
  return untilOpen(port, output, tries - 1)
}
