import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Mode } from '../../src/core/mode.ts'
import { afterFile } from '../support/vitest/afterFile.ts'
import { type FreshDatabase, freshDatabase } from '../support/database/database.ts'
import { send } from '../support/merchant/merchant.ts'
import { commandsOnPage, inlineCommands, usageFault } from './goingLiveCommands.ts'

// An operator who follows docs/going-live.md: the commands of the page in order, each in a separate process,
// against a gateway and simulators in further processes. The test substitutes what the page asks the operator to
// substitute, does what it says to do in a browser, on the phone and in the dashboard, and acts as the TLS proxy.
const publicAddress = 'https://pay.example'

let database: FreshDatabase
let port: number
let env: Record<string, string>
let providers: Record<string, Provider>
const values = new Map<string, string>() // what earlier commands printed, by its placeholder on the page
const children: ChildProcess[] = []
const said: (() => string)[] = [] // by the gateway and by its commands

beforeAll(async () => {
  database = await freshDatabase()
  port = await freePort()
  env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', NO_COLOR: '1' }
  env = { ...env, PORT: String(port), TOLLGATE_METRICS_TOKEN: 'a token of 16 characters or more' }
})
afterAll(async () => {
  for (const child of children) await stopped(child)
  await database.drop()
})

// Below the ephemeral port range, so that no client gets the port before the gateway starts.
async function freePort(): Promise<number> {
  const server = createServer()
  const isFree = await new Promise<boolean>(resolve => {
    server.once('error', () => resolve(false))
    server.listen(randomInt(20_000, 30_000), '127.0.0.1', () => resolve(true))
  })
  if (!isFree) return freePort()
  const { port: free } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return free
}

async function stopped(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

// The operator's shell. `npx tollgate` is the program of this checkout.
type Ran = { code: number | null; output: string }

function shell(line: string, typed = ''): { child: ChildProcess; output(): string; ended: Promise<Ran> } {
  const script = `npx() { shift; exec node bin/tollgate.js "$@"; }\n${line}`
  const child = spawn('sh', ['-ec', script], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  afterFile(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', chunk => (output += String(chunk)))
  child.stderr.on('data', chunk => (output += String(chunk)))
  child.stdin.on('error', () => {}) // a command that asks for nothing may end before it is written
  child.stdin.end(typed)
  const ended = new Promise<Ran>(resolve => child.once('close', code => resolve({ code, output })))
  return { child, output: () => output, ended }
}

async function run(line: string, typed?: string): Promise<string> {
  const { code, output } = await shell(line, typed).ended
  said.push(() => output)
  expect(code, `${line}\n${output}`).toBe(0)
  return output
}

async function runInBackground(line: string, says: string): Promise<string> {
  const { child, output } = shell(line)
  children.push(child)
  if (line.startsWith('npx')) said.push(output)
  await expect
    .poll(() => child.exitCode === null && output(), { timeout: 50_000, message: `${line}: ${output()}` })
    .toContain(says)
  return output()
}

// What `npm run simulate` prints about one account.
type Provider = { url: string; settings: Record<string, string>; webhook?: string }

function readProviders(printed: string): Record<string, Provider> {
  const found: Record<string, Provider> = {}
  for (const [, name, words = '', mode, next = ''] of printed.matchAll(
    /^ {2}npx tollgate provider add (\w+) (.*) --mode (\w+)\n(.*)$/gm,
  )) {
    const settings = Object.fromEntries(words.split(' ').map(word => word.split('=') as [string, string]))
    const webhook = next.includes('webhook_url') ? next.trim() : undefined
    found[`${name} ${mode}`] = { url: settings.url as string, settings, webhook }
  }
  return found
}

const providerOf = (name: string, mode: string) => {
  const provider = providers[`${name} ${mode}`]
  if (!provider) throw new Error(`there is no simulator of ${name} in ${mode} mode`)
  return provider
}

const control = async ({ url }: Provider, name: string, body?: unknown) =>
  (await send(`${url}/control/${name}`, { method: 'POST', body: JSON.stringify(body) })).body.said

// From the public address to where the gateway listens.
const behindProxy = (url: string) => url.replace(publicAddress, `http://127.0.0.1:${port}`)

const fact = (output: string, name: string) =>
  new RegExp(`^ *${name} +([^\\s]*[^\\s:])`, 'm').exec(output)?.[1] ?? ''

function withValues(line: string): string {
  return line.replace(/YOUR-[A-Z]+(?:-[A-Z]+)*/g, placeholder => {
    const value = values.get(placeholder)
    if (value === undefined) throw new Error(`nothing on the page has given ${placeholder} yet: ${line}`)
    return value
  })
}

// Secrets are typed in the order of the command, and the address of the simulator is added.
async function addAccount(line: string) {
  const [, name = '', words = '', mode = ''] = /provider add (\w+) (.*) --mode (\w+)/.exec(line) ?? []
  const provider = providerOf(name, mode)
  values.set('YOUR-API-USER', provider.settings.api_user ?? '')
  const asked = words.split(' ').flatMap(word => (word.endsWith('=-') ? [word.slice(0, -2)] : []))
  const typed = asked.map(setting => `${provider.settings[setting]}\n`).join('')
  const output = await run(withValues(`${line} url=${provider.url}`), typed)
  expect(output).toMatch(/^ *check +the settings are good/m)
  values.set('YOUR-ACCOUNT', fact(output, 'account'))
  const address = fact(output, 'webhook')
  if (provider.webhook) {
    expect(address.startsWith(`${publicAddress}/callbacks/account/`)).toBe(true)
    await run(provider.webhook.replace('ADDRESS', behindProxy(address)))
  }
}

// The customer in front of the checkout page: the method is on it, and its form has these fields.
async function payOnPage(checkout: string, payment_method: string, input: Record<string, string>) {
  const url = behindProxy(checkout)
  const names = Object.keys(input).map(name => `name="${payment_method}.${name}"`)
  const hasForm = async () => {
    const { text } = await send(url)
    return [`value="${payment_method}"`, ...names].every(part => text.includes(part))
  }
  await expect.poll(hasForm, { timeout: 10_000 }).toBe(true)
  const fields = Object.entries(input).map(([name, value]) => [`${payment_method}.${name}`, value])
  const body = new URLSearchParams({ number: '1', payment_method, ...Object.fromEntries(fields) })
  expect((await send(`${url}/pay`, { method: 'POST', body })).http).toBe(303)
}

const paidOn = (checkout: string) => async () => (await send(`${behindProxy(checkout)}/state`)).body.stage

async function decideAtMtn(mode: Mode, decision: 'approve' | 'decline') {
  const mtn = providerOf('mtn', mode)
  let key: string | undefined
  await expect.poll(async () => (key = (await control(mtn, 'open'))[0]), { timeout: 10_000 }).toBeDefined()
  expect(await control(mtn, decision, key)).toBe(true)
}

async function approveAtPaystack(mode: Mode) {
  const paystack = providerOf('paystack', mode)
  let key: string | undefined
  const open = async () =>
    (key = (await control(paystack, 'book')).find((one: { ended?: string }) => !one.ended)?.reference)
  await expect.poll(open, { timeout: 10_000 }).toBeDefined()
  await control(paystack, 'approve', key)
}

// What the page says to do after each payment request, in its order, and how the payment then ends.
const email = 'you@example.test'
const customers: { stage: string; status: string; mode: Mode; act(checkout: string): Promise<void> }[] = [
  {
    stage: 'paid',
    status: 'paid',
    mode: 'test',
    act: checkout => payOnPage(checkout, 'mtn_mobile_money', { phone: '0551234987', email }),
  },
  {
    stage: 'paid',
    status: 'paid',
    mode: 'live',
    async act(checkout) {
      await payOnPage(checkout, 'mtn_mobile_money', { phone: '0241234567' })
      await decideAtMtn('live', 'approve')
    },
  },
  {
    stage: 'failed',
    status: 'failed',
    mode: 'live',
    async act(checkout) {
      await payOnPage(checkout, 'mtn_mobile_money', { phone: '0241234567' })
      await decideAtMtn('live', 'decline')
    },
  },
]
let requested = 0
let statusDue = ''

async function requestAndPay(line: string, { stage, status, mode, act }: (typeof customers)[number]) {
  const output = await run(withValues(line))
  expect(line).toContain(`--mode ${mode}`)
  values.set('YOUR-REFERENCE', fact(output, 'reference'))
  const checkout = fact(output, 'checkout')
  await act(checkout)
  await expect.poll(paidOn(checkout), { timeout: 30_000 }).toBe(stage)
  statusDue = status
}

const today = new Date().toISOString().slice(0, 10)

// One line of the page.
async function follow(line: string) {
  const exported = /^export (\w+)=/.exec(line)?.[1]
  if (exported === 'DATABASE_URL') env.DATABASE_URL = database.url
  else if (exported) env[exported] = (await run(`${line}\nprintf %s "$${exported}"`)).trim()
  else if (line === 'npm run simulate')
    providers = readProviders(
      await runInBackground('exec node test/simulators/run.js --port 0', 'Ctrl-C ends this.'),
    )
  else if (line.startsWith('npx tollgate start')) await runInBackground(line, 'is open')
  else if (line.startsWith('npx tollgate provider add ')) await addAccount(line)
  else if (line.startsWith('npx tollgate provider set '))
    await run(withValues(line), `${providerOf('paystack', 'live').settings.secret_key}\n`)
  else if (line.startsWith('npx tollgate merchant add '))
    values.set('YOUR-MERCHANT', fact(await run(line), 'merchant_id'))
  else if (line.startsWith('npx tollgate payment request ')) {
    const customer = customers[requested++]
    if (!customer) throw new Error(`the page requests more payments than this test pays: ${line}`)
    await requestAndPay(line, customer)
  } else if (line.startsWith('npx tollgate payment show '))
    expect(fact(await run(withValues(line)), 'status')).toBe(statusDue)
  else if (line.startsWith('npx tollgate outlet report '))
    expect(await run(line.replace(/\d{4}-\d\d-\d\d/g, today))).toMatch(/paid/)
  else if (line.startsWith('npx tollgate ')) await run(withValues(line))
  else throw new Error(`this test does not know how to follow: ${line}`)
}

test('the page has the commands of every step', () => {
  const words = commandsOnPage.join('\n')
  for (const part of [
    'simulate',
    'start',
    'provider add mtn',
    'provider add paystack',
    'payment request',
    '--mode live',
  ])
    expect(words).toContain(part)
})

test('every command of the page runs as it stands, up to live payments that are paid and declined', async () => {
  for (const line of commandsOnPage) await follow(line)
  expect(requested).toBe(customers.length)
}, 300_000)

test('Paystack: a live payment is paid on the phone, and its webhook reaches the stored account', async () => {
  const line = commandsOnPage.findLast(one => one.includes('payment request') && one.includes('--mode live'))
  await run(withValues('npx tollgate merchant set YOUR-MERCHANT payment_methods='))
  await requestAndPay(line ?? '', {
    stage: 'paid',
    status: 'paid',
    mode: 'live',
    async act(checkout) {
      await payOnPage(checkout, 'airteltigo_money', { phone: '0261234567', email })
      await approveAtPaystack('live')
    },
  })
  const { text } = await send(`http://127.0.0.1:${port}/metrics`, {
    headers: { authorization: `Bearer ${env.TOLLGATE_METRICS_TOKEN}` },
  })
  expect(text).toMatch(
    new RegExp(
      `^tollgate_webhooks_total\\{[^}]*account="${values.get('YOUR-ACCOUNT')}"[^}]*outcome="accepted"`,
      'm',
    ),
  )
}, 60_000)

test('neither the gateway nor a command prints a secret of a provider', () => {
  const all = said.map(output => output()).join('\n')
  expect(all).toContain('First live payment')
  const secrets = Object.values(providers).flatMap(
    ({ settings: { secret_key, subscription_key, api_key } }) =>
      [secret_key, subscription_key, api_key].filter(secret => secret !== undefined),
  )
  expect(secrets).toHaveLength(6)
  for (const secret of secrets) expect(all).not.toContain(secret)
})

test('commands in the text of the page exist, with their options', () => {
  expect(inlineCommands.length).toBeGreaterThan(3)
  expect(inlineCommands.flatMap(words => usageFault(words) ?? [])).toEqual([])
})
