import { testIpnSecret } from '../../testing.ts'
import { sleep } from '../../transport.ts'
import {
  type Command,
  CommandError,
  type Input,
  type Io,
  textOption,
  urlArgument,
  usageError,
} from '../command.ts'
import { type Credentials, readCredentials } from '../credentials.ts'
import { cell, indent, paint, printable } from '../output.ts'
import {
  acknowledged,
  type Check,
  concurrent,
  duplicate,
  extended,
  failed,
  late,
  paid,
  refunded,
  reordered,
} from './checks.ts'
import { type ExamGateway, openExamGateway } from './gateway.ts'
import {
  early,
  forged,
  replayed,
  statusDown,
  statusSlow,
  unconfirmed,
  unknownInvoice,
  wrongAmount,
  wrongCurrency,
} from './hostileChecks.ts'
import { endedEarly, shopEnv, type ShopProgram, startProgram } from './program.ts'
import { examinedShop, type ExaminedShop } from './shop.ts'

const defaultPort = '8099'
const startMs = 60_000 // how long the shop may take to start

export const exam: Command = {
  usage: 'exam URL --orders URL [--port PORT] [--only CHECK,...] [-- COMMAND ...]',
  summary:
    'Grade your notification endpoint: duplicates, forgeries, wrong amounts, late and slow answers, and more.',
  details: `URL is your notification endpoint. The exam is a gateway itself, at http://127.0.0.1:${defaultPort}: start your shop with
TOLLGATE_URL set to that address, or give the command that starts it behind --. Without keys in the environment the
exam has keys of its own and shows them. No real payment is made, and no other gateway is asked.

--orders is an endpoint of your shop for the exam. It receives JSON by POST, signed like a notification:
  {"exam": "create_order", "invoice_id": "...", "total": "25.00", "currency": "GHS", "ipn_url": "..."}
      store the order as your shop does, request its payment if you can, and answer 200
  {"exam": "read_order", "invoice_id": "..."}
      answer {"status": "your word", "deliveries": 1}: how often the order was delivered
With @tollgate/merchant it is three lines:
  app.post('/exam', examListener(tollgate, {
    createOrder: order => placeOrder(order),
    readOrder: id => ({ status: orders.get(id).state, deliveries: orders.get(id).deliveries }) }))`,
  options: {
    orders: { type: 'string', value: 'URL', help: 'the endpoint of your shop for the exam' },
    port: { type: 'string', value: 'PORT', help: `of the exam's gateway; by default ${defaultPort}` },
    only: { type: 'string', value: 'CHECK,...', help: 'only these checks' },
  },
  examples: [
    'exam http://127.0.0.1:3000/ipn --orders http://127.0.0.1:3000/exam -- node shop.js',
    'exam http://127.0.0.1:3000/ipn --orders http://127.0.0.1:3000/exam --only duplicate,forged',
  ],
  async run(input) {
    const { io, positionals, rest } = input
    const ipnUrl = urlArgument(positionals[0], 'The first argument')
    const ordersUrl = urlArgument(textOption(input, 'orders'), '--orders')
    const { credentials, docsUrl } = await examCredentials(io)
    const checks = chosenChecks(input, ipnUrl, credentials.ipnSecret)
    const gateway = await openExamGateway(credentials, readPort(input))
    const given = { ...credentials, baseUrl: gateway.url }
    const program = rest.length > 0 ? startProgram(rest, given, io) : undefined
    try {
      io.out(`The gateway of the exam is ${gateway.url}.`)
      if (!program) showEnvironment(io, given)
      const shop = examinedShop(gateway, { credentials: given, ipnUrl, ordersUrl, io })
      await waitForShop(ordersUrl, program, io)
      return await runChecks(checks, shop, gateway, { io, docsUrl })
    } finally {
      gateway.releaseHanging()
      gateway.close()
      await program?.stop()
    }
  },
}

const checksOf = (ipnUrl: string, ipnSecret: string): Check[] => [
  paid,
  acknowledged,
  failed,
  duplicate,
  concurrent,
  reordered,
  late,
  early,
  extended,
  refunded,
  forged(ipnUrl, ipnSecret),
  replayed,
  unconfirmed,
  wrongAmount,
  wrongCurrency,
  unknownInvoice,
  statusDown,
  statusSlow,
]

function chosenChecks(input: Input, ipnUrl: string, ipnSecret: string): Check[] {
  const all = checksOf(ipnUrl, ipnSecret)
  const only = textOption(input, 'only')?.split(',')
  const unknown = only?.find(name => !all.some(check => check.name === name))
  if (unknown !== undefined)
    throw usageError(`There is no check ${unknown}. Checks: ${all.map(({ name }) => name).join(', ')}.`)
  return only ? all.filter(({ name }) => only.includes(name)) : all
}

function readPort(input: Input): number {
  const text = textOption(input, 'port') ?? defaultPort
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text)
  throw usageError(`--port ${text}: use a number such as ${defaultPort}.`)
}

// The keys of the developer, so that the shop needs only another address; otherwise keys for the exam only.
async function examCredentials(io: Io) {
  const { baseUrl, merchantKey, merchantSecret, ipnSecret } = await readCredentials(io.env)
  if (merchantKey?.startsWith('lk_'))
    throw new CommandError(
      'The exam does not use a live key. Use the test keys of your merchant, or none.',
      2,
    )
  const docsUrl = `${baseUrl ?? 'http://127.0.0.1:8080'}/docs/developer-commands`
  const credentials: Credentials & { ipnSecret: string } =
    merchantKey && merchantSecret && ipnSecret
      ? { baseUrl: '', merchantKey, merchantSecret, ipnSecret }
      : {
          baseUrl: '',
          merchantKey: 'tk_exam',
          merchantSecret: 'a secret for the exam only',
          ipnSecret: testIpnSecret,
        }
  return { credentials, docsUrl }
}

// The secrets of the developer are not shown: the shop has them already.
function showEnvironment(io: Io, credentials: Credentials) {
  const isOwn = credentials.merchantKey === 'tk_exam'
  const shown = Object.entries(shopEnv(credentials)).filter(([name]) => isOwn || name === 'TOLLGATE_URL')
  io.out('Start your shop with:')
  for (const [name, value] of shown) io.out(`  export ${name}='${value}'`)
}

async function waitForShop(ordersUrl: string, program: ShopProgram | undefined, io: Io) {
  const started = performance.now()
  for (let isSaid = false; ; isSaid = true) {
    if (program?.hasEnded()) throw endedEarly(program)
    const isThere = await fetch(ordersUrl, {
      method: 'POST',
      body: '{}',
      signal: AbortSignal.timeout(5000),
    }).then(
      () => true,
      () => false,
    )
    if (isThere) return
    if (io.signal.aborted) throw new CommandError('Ended before the shop answered.', 130)
    if (performance.now() - started > startMs)
      throw new CommandError(
        `Nothing answers at ${ordersUrl}. Start your shop, and check the address.${program ? `\n${program.output()}` : ''}`,
        2,
      )
    if (!isSaid) io.out(`Waiting for your shop at ${ordersUrl}.`)
    await sleep(300, io.signal).catch(() => {})
  }
}

async function runChecks(
  checks: readonly Check[],
  shop: ExaminedShop,
  gateway: ExamGateway,
  { io, docsUrl }: { io: Io; docsUrl: string },
): Promise<number> {
  let passed = 0
  let isHopeless = false
  for (const check of checks) {
    if (isHopeless || io.signal.aborted) break
    const fault = await check.run(shop, gateway).catch((error: unknown) => {
      if (passed === 0 || !(error instanceof CommandError)) throw error
      isHopeless = true // it has worked before this check
      return error.message
    })
    io.out(
      `${cell(io, fault ? 'FAIL' : 'ok', 4, fault ? 'red' : 'green')}  ${check.name.padEnd(15)}  ${check.title}`,
    )
    if (fault) {
      io.out(indent(`${printable(fault)}\nCure: ${check.cure}\n${docsUrl}#${check.name}`, 6))
      isHopeless ||= check.isRequired === true && checks.length > 1
    } else passed++
  }
  if (isHopeless) io.out('The exam ends here. Correct this, and run it again.')
  io.out(
    paint(io, passed === checks.length ? 'green' : 'bold', `${passed} of ${checks.length} checks passed.`),
  )
  return passed === checks.length ? 0 : 1
}
